package vnfm

import (
	"context"
	"slices"
	"time"
)

// endsKey is for the contexts whose end ends CleanupContext too.
type endsKey struct{}

func ends(ctx context.Context) []context.Context {
	all, _ := ctx.Value(endsKey{}).([]context.Context)
	return all
}

func withEnd(ctx, end context.Context) context.Context {
	return context.WithValue(ctx, endsKey{}, append(slices.Clone(ends(ctx)), end))
}

// WithTimeLimit returns a context that ends after the time that a user gives to an
// operation. Unlike that of context.WithTimeout it remembers the context without
// the limit, for CleanupContext.
func WithTimeLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(withEnd(ctx, ctx), limit)
}

// WithCancelCause is context.WithCancelCause for what ends CleanupContext as well, such as the loss
// of a lease.
func WithCancelCause(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	// The work may have ended by its limit before: then its cause stays that one.
	end, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	work, cancel := context.WithCancelCause(withEnd(ctx, end))
	return work, func(cause error) {
		cancel(cause)
		stop(cause)
	}
}

// CleanupContext returns a context for what must still be done after the time limit of
// an operation was over, such as a rollback. It has the values of ctx, lasts for d and
// ends, as any work must, when the user interrupts or a lease is lost.
func CleanupContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var forget []func() bool
	for _, end := range ends(ctx) {
		forget = append(forget, context.AfterFunc(end, func() { cancel(context.Cause(end)) }))
	}
	late, stop := context.WithTimeout(late, d)
	return late, func() {
		for _, stopped := range forget {
			stopped()
		}
		stop()
		cancel(nil)
	}
}
