package vnfm

import (
	"context"
	"errors"
	"fmt"
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

// limitKey is for the end of the time that a user gives to an operation.
type limitKey struct{}

// WithTimeLimit returns a context that ends after the time that a user gives to an
// operation. Unlike that of context.WithTimeout it remembers the context without
// the limit, for CleanupContext and RollbackContext.
func WithTimeLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(limit)
	return context.WithDeadline(context.WithValue(withEnd(ctx, ctx), limitKey{}, end), end)
}

// A third of the time that an operation has is kept for its rollback, maxRollback at most.
const (
	rollbackShare = 3
	maxRollback   = 15 * time.Minute
)

// KeepRollbackTime returns a context for the work of an operation that is rolled back when
// it fails. It ends so early that the rollback still has time. Without a time limit it is ctx.
func KeepRollbackTime(ctx context.Context) (context.Context, context.CancelFunc) {
	end, limited := ctx.Value(limitKey{}).(time.Time)
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-min(time.Until(end)/rollbackShare, maxRollback)))
}

// RollbackContext returns a context for the rollback of an operation that has failed. It is
// that of CleanupContext, and ends with the time limit of the operation; without one it lasts
// for d.
func RollbackContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if end, limited := ctx.Value(limitKey{}).(time.Time); limited {
		d = time.Until(end)
	}
	return CleanupContext(ctx, d)
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

// WithCause puts the reason for which the work of ctx was stopped, such as the loss of a lease, before the error that the work returned.
// An error that says it already, and the end of a time or an interruption, which are no news, are left as they are.
func WithCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
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
