package vnfm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestCleanupContext(t *testing.T) {
	user, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	limited, stop := vnfm.WithTimeLimit(user, time.Nanosecond)
	defer stop()
	<-limited.Done()
	work, cancel := context.WithCancelCause(limited)
	defer cancel(nil)

	cleanup, done := vnfm.CleanupContext(work, time.Hour)
	defer done()
	require.NoError(t, cleanup.Err(), "the limit of the operation ends its cleanup")
	interrupt()
	<-cleanup.Done()
}

// TestCleanupContextOfALostLease loses the right to work after the time limit was over, and in the
// cleanup itself: the values of the context, by which the store knows the lease, stay.
func TestCleanupContextOfALostLease(t *testing.T) {
	type key struct{}
	lost := errors.New("lost")
	limited, stop := vnfm.WithTimeLimit(t.Context(), time.Nanosecond)
	defer stop()
	<-limited.Done()
	work, lose := vnfm.WithCancelCause(context.WithValue(limited, key{}, "fence"))
	cleanup, done := vnfm.CleanupContext(work, time.Hour)
	defer done()
	require.NoError(t, cleanup.Err(), "the limit of the operation ends its cleanup")
	if cleanup.Value(key{}) != "fence" {
		t.Error("the overtime has not the values of its operation")
	}
	lose(lost)
	<-cleanup.Done()
	require.ErrorIs(t, context.Cause(cleanup), lost, "the overtime ended because of")
	late, end := vnfm.CleanupContext(work, time.Hour)
	defer end()
	<-late.Done()
}

// TestRollbackContext ends the work of an operation early enough for its rollback, and the rollback with the operation's
// time limit, whenever it begins.
func TestRollbackContext(t *testing.T) {
	near := func(what string, ctx context.Context, want time.Duration) {
		t.Helper()
		end, limited := ctx.Deadline()
		if left := time.Until(end); !limited || left > want || left < want-time.Minute {
			t.Errorf("%s has %s left, want %s", what, left, want)
		}
	}
	for limit, work := range map[time.Duration]time.Duration{30 * time.Minute: 20 * time.Minute, 2 * time.Hour: 105 * time.Minute} {
		limited, stop := vnfm.WithTimeLimit(t.Context(), limit)
		defer stop()
		kept, cancel := vnfm.KeepRollbackTime(limited)
		defer cancel()
		near("the work", kept, work)
		back, done := vnfm.RollbackContext(kept, time.Hour)
		defer done()
		near("the rollback", back, limit)
	}
	limited, stop := vnfm.WithTimeLimit(t.Context(), time.Nanosecond)
	defer stop()
	<-limited.Done()
	late, done := vnfm.RollbackContext(limited, time.Hour)
	defer done()
	<-late.Done()

	unlimited, cancel := vnfm.KeepRollbackTime(t.Context())
	defer cancel()
	if _, limited := unlimited.Deadline(); limited {
		t.Error("work without a time limit has one")
	}
	back, stopped := vnfm.RollbackContext(unlimited, time.Hour)
	defer stopped()
	near("a rollback without a time limit", back, time.Hour)
}

// A reason is said once, however deep in the error it is.
func TestWithCause(t *testing.T) {
	t.Parallel()
	cause := &vnfm.CancelledError{By: "alice"}
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := errors.New("the connection was closed")
	require.Equal(t, failed, vnfm.WithCause(ctx, failed), "nothing was stopped")
	cancel(cause)
	require.EqualError(t, vnfm.WithCause(ctx, failed), cause.Error()+": the connection was closed")
	inside := fmt.Errorf("1 of 2 objects are not ready (%w)", cause)
	require.Equal(t, inside, vnfm.WithCause(ctx, vnfm.WithCause(ctx, inside)))
	require.NoError(t, vnfm.WithCause(ctx, nil))
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	require.Equal(t, failed, vnfm.WithCause(interrupted, failed))
}
