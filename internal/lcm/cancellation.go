package lcm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// An operation can be cancelled from another shell or machine that reaches the store: a record asks for it, and the process that runs
// the operation looks for that record from time to time.

// cancellation asks to stop one run of an operation.
type cancellation struct {
	OperationID string `json:"operation_id"`
	// Attempts are those of the operation when it was asked for: a later run of the same operation goes on.
	Attempts int `json:"attempts"`
	// By is who asks, as process.Name names them.
	By string `json:"by"`
}

// cancellationInterval is how often a running operation looks whether it is cancelled.
const cancellationInterval = 5 * time.Second

// Cancel asks the process that runs an operation to stop it. That process leaves the operation in FAILED_TEMP, as after Ctrl-C: nothing
// is rolled back, and the next apply goes on. It may take a few seconds. An operation that nobody runs is an error.
func Cancel(ctx context.Context, s store.Portable, op *vnfm.Operation) error {
	held, err := s.HeldLeases(ctx)
	if err != nil {
		return err
	}
	if op.State.Final() || !heldFor(held, op.InstanceID) {
		return fmt.Errorf("operation %s is %s, and no process runs it", op.ID, op.State)
	}
	asked := &records.Entry[cancellation]{
		Rec:   store.Record{Kind: store.KindCancellation, ID: op.InstanceID, Owner: op.InstanceID},
		Value: cancellation{OperationID: op.ID, Attempts: op.Attempts, By: process.Name()},
	}
	err = asked.Create(ctx, s)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	// It is of an earlier run, or somebody else asks as well.
	if err := s.Delete(ctx, store.KindCancellation, op.InstanceID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return asked.Create(ctx, s)
}

// WithdrawCancellation takes back what Cancel has asked for and no process has heeded: the operation had ended by itself.
func WithdrawCancellation(ctx context.Context, s store.Store, op *vnfm.Operation) error {
	err := s.Delete(ctx, store.KindCancellation, op.InstanceID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// leaseOf is the name of the lease of an instance.
func leaseOf(instanceID string) string { return "instance/" + instanceID }

func heldFor(held []store.HeldError, instanceID string) bool {
	return RunnerOf(held, instanceID) != ""
}

// RunnerOf says which process works on an instance; empty for none.
func RunnerOf(held []store.HeldError, instanceID string) string {
	for _, h := range held {
		if h.Name == leaseOf(instanceID) {
			return process.Describe(h.Holder)
		}
	}
	return ""
}

// heedCancellation returns a context that ends when the work on an instance is cancelled, and a function that ends the looking.
func heedCancellation(ctx context.Context, s store.Store, instanceID string) (context.Context, func()) {
	work, cancel := vnfm.WithCancelCause(ctx)
	looking, stop := context.WithCancel(work)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(cancellationInterval)
		defer ticker.Stop()
		for {
			select {
			case <-looking.Done():
				return
			case <-ticker.C:
			}
			if by := cancelledBy(looking, s, instanceID); by != "" {
				cancel(&vnfm.CancelledError{By: by})
				return
			}
		}
	}()
	return work, func() {
		stop()
		<-ended
		cancel(nil)
	}
}

// cancelledBy says who has cancelled the present run of the operation of an instance; empty for nobody, and where the store does not
// answer. It takes the record away.
func cancelledBy(ctx context.Context, s store.Store, instanceID string) string {
	asked, err := records.Get[cancellation](ctx, s, store.KindCancellation, instanceID)
	if err != nil {
		return ""
	}
	_ = s.Delete(ctx, store.KindCancellation, instanceID)
	occs, err := records.List[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation, Owner: instanceID})
	if err != nil {
		return ""
	}
	for _, occ := range occs {
		if occ.Value.ID == asked.Value.OperationID && !occ.Value.State.Final() && occ.Value.Attempts == asked.Value.Attempts {
			return process.Describe(asked.Value.By)
		}
	}
	return ""
}
