package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Heartbeat renews a lease in the background until Stop. A lease that could not be renewed
// is lost when it expires, and at once when somebody else has taken it.
type Heartbeat struct {
	// every is the time between two renewals.
	every time.Duration
	renew Renew

	mu sync.Mutex
	// unanswered is when the first of the renewals began that have got no answer, the zero time for none; failure is what the last said.
	unanswered time.Time
	failure    error

	stop     context.CancelFunc
	ended    chan struct{}
	lostOnce sync.Once
	lost     chan struct{}
}

// Renew moves the expiry of a lease on and returns the new one, by the monotonic clock of
// this process. taken says that the lease is somebody else's.
type Renew func(ctx context.Context) (expires time.Time, taken bool, err error)

// StartHeartbeat renews a lease that expires at a time, again and again after a pause. The
// expiry does not follow a clock that is set. The end of ctx does not end it.
func StartHeartbeat(ctx context.Context, expires time.Time, every time.Duration, renew Renew) *Heartbeat {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &Heartbeat{every: every, renew: renew, stop: stop, ended: make(chan struct{}), lost: make(chan struct{})}
	go h.run(ctx, expires)
	return h
}

func (h *Heartbeat) run(ctx context.Context, expires time.Time) {
	defer close(h.ended)
	// A renewal can hang where no context reaches it, in a file system.
	expiry := time.AfterFunc(time.Until(expires), h.Lose)
	defer expiry.Stop()
	ticker := time.NewTicker(h.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.lost:
			return
		case <-ticker.C:
		}
		h.trying()
		attempt, cancel := context.WithDeadline(ctx, expires)
		next, taken, err := h.renew(attempt)
		cancel()
		h.tried(err)
		switch {
		case ctx.Err() != nil:
			// Released meanwhile: that is why the lease was not there any more.
			return
		case taken:
			h.Lose()
			return
		case err == nil:
			expires = next
			expiry.Reset(time.Until(expires))
			ticker.Reset(h.every)
		default:
			// Try again sooner: the work of the holder stands and falls with it.
			ticker.Reset(h.every / 5)
		}
	}
}

// trying notes that a renewal begins, tried how it ended.
func (h *Heartbeat) trying() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unanswered.IsZero() {
		h.unanswered = time.Now()
	}
}

func (h *Heartbeat) tried(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure = err
	if err == nil {
		h.unanswered = time.Time{}
	}
}

// Unanswered says since when the store has not answered renewals, and how the last one failed. It is nil while it answers.
func (h *Heartbeat) Unanswered() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unanswered.IsZero() {
		return nil
	}
	silent := fmt.Errorf("the store has not answered since %s", h.unanswered.UTC().Format(time.RFC3339))
	if h.failure != nil {
		return fmt.Errorf("%w: %w", silent, h.failure)
	}
	return silent
}

// Stop ends the renewals. The lease is not lost by that.
func (h *Heartbeat) Stop() { h.stop() }

// Wait waits until no renewal is on its way any more, after Stop.
func (h *Heartbeat) Wait() { <-h.ended }

// Lose closes Lost.
func (h *Heartbeat) Lose() { h.lostOnce.Do(func() { close(h.lost) }) }

// Lost is closed when the lease is lost.
func (h *Heartbeat) Lost() <-chan struct{} { return h.lost }
