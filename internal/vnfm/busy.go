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
// the lock timeout of ctx and ctx itself last.
func RetryWhileBusy(ctx context.Context, try func() error) error {
	limit, _ := ctx.Value(lockTimeoutKey{}).(time.Duration)
	end := time.Now().Add(limit)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := try()
		if limit <= 0 || !errors.As(err, new(*BusyError)) {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return fmt.Errorf("%w; gave up after %s", err, limit)
		}
		if ended := poll.Sleep(ctx, min(pause, left)); ended != nil {
			return fmt.Errorf("%w: %w", err, ended)
		}
	}
}
