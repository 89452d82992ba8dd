package vnfm_test

import (
	"context"
	"errors"
	"testing"
	"time"

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
	if err := cleanup.Err(); err != nil {
		t.Fatalf("the limit of the operation ends its cleanup: %v", err)
	}
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
	if err := cleanup.Err(); err != nil {
		t.Fatalf("the limit of the operation ends its cleanup: %v", err)
	}
	if cleanup.Value(key{}) != "fence" {
		t.Error("the overtime has not the values of its operation")
	}
	lose(lost)
	<-cleanup.Done()
	if cause := context.Cause(cleanup); !errors.Is(cause, lost) {
		t.Errorf("the overtime ended because of %v", cause)
	}
	late, end := vnfm.CleanupContext(work, time.Hour)
	defer end()
	<-late.Done()
}
