package vnfm

import (
	"context"
	"time"
)

type unlimitedKey struct{}

// WithTimeLimit returns a context that ends after the time that a user gives to an
// operation. Unlike that of context.WithTimeout it remembers the context without
// the limit, for Overtime.
func WithTimeLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, unlimitedKey{}, ctx), limit)
}

// Overtime returns a context for what must still be done after the time limit of
// an operation was over, such as a rollback. It lasts for d and ends, as any work
// must, when the user interrupts.
func Overtime(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	unlimited, ok := ctx.Value(unlimitedKey{}).(context.Context)
	if !ok {
		unlimited = context.WithoutCancel(ctx)
	}
	return context.WithTimeout(unlimited, d)
}
