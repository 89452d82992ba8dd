package vnfm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// The pauses between two checks whether the other process has ended.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

type lockTimeoutKey struct{}

// WithLockTimeout returns a context under which work waits for that long until another
// process lets go of the same object. Without it a *BusyError is returned at once.
func WithLockTimeout(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, lockTimeoutKey{}, limit)
}

// RetryWhileBusy calls try until it returns something else than a *BusyError, as long as
// the lock timeout of ctx and ctx itself last. A holder that has given no sign of life in all
// that time is taken for killed: the wait goes on until its lock expires.
func RetryWhileBusy(ctx context.Context, try func() error) error {
	limit, _ := ctx.Value(lockTimeoutKey{}).(time.Duration)
	begin, allowed := time.Now(), limit
	var first *BusyError
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := try()
		var busy *BusyError
		if limit <= 0 || !errors.As(err, &busy) {
			return err
		}
		if first == nil {
			first = busy
		}
		left := allowed - time.Since(begin)
		if left <= 0 && busy.silentSince(first) {
			left = time.Until(busy.Expires)
			allowed = time.Since(begin).Round(time.Second)
		}
		if left <= 0 {
			return fmt.Errorf("%w; gave up after %s", err, max(limit, allowed))
		}
		if ended := poll.Sleep(ctx, min(pause, left)); ended != nil {
			return fmt.Errorf("%w: %w", err, ended)
		}
	}
}

// silentSince reports whether the holder is the one of an earlier error and has given no sign of life since.
func (e *BusyError) silentSince(earlier *BusyError) bool {
	return e.Holder == earlier.Holder && !e.Renewed.IsZero() && e.Renewed.Equal(earlier.Renewed)
}
