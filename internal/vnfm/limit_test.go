package vnfm_test

import (
	"context"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestOvertime(t *testing.T) {
	user, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	limited, stop := vnfm.WithTimeLimit(user, time.Nanosecond)
	defer stop()
	<-limited.Done()
	work, cancel := context.WithCancelCause(limited)
	defer cancel(nil)

	over, done := vnfm.Overtime(work, time.Hour)
	defer done()
	if err := over.Err(); err != nil {
		t.Fatalf("the limit of the operation ends its overtime: %v", err)
	}
	interrupt()
	if over.Err() == nil {
		t.Error("an interrupt does not end the overtime")
	}
}
