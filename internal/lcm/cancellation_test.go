package lcm_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// stuck is a driver whose Apply makes everything and then waits for its end.
type stuck struct{ *driver }

func (d stuck) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	if err := d.driver.Apply(ctx, t, r); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestCancel cancels an operation from another process. It is not rolled back, and the next apply goes on with it.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	e := w.openWith(t, onKubernetes(stuck{w.driver}))
	s, ok := opened(t, w.dir).(store.Portable)
	require.True(t, ok)

	spec := w.spec()
	spec.OnFailure = vnfm.OnFailureRollback
	failed := make(chan error, 1)
	go func() {
		_, err := e.Instantiate(t.Context(), spec)
		failed <- err
	}()
	var op vnfm.Operation
	require.Eventually(t, func() bool {
		instances, err := w.Instances(t.Context(), vnfm.InstanceFilter{})
		if err != nil || len(instances) == 0 {
			return false
		}
		ops, err := w.Operations(t.Context(), instances[0].ID)
		if err != nil || len(ops) == 0 {
			return false
		}
		op = ops[0]
		return op.State == vnfm.StateProcessing
	}, 30*time.Second, 10*time.Millisecond)
	// One of an earlier run of the same operation does nothing.
	earlier := op
	earlier.Attempts--
	require.NoError(t, lcm.Cancel(t.Context(), s, &earlier))
	require.NoError(t, lcm.Cancel(t.Context(), s, &op))
	err := <-failed
	var cancelled *vnfm.CancelledError
	require.ErrorAs(t, err, &cancelled, "the cancelled operation ended with")
	require.ErrorContains(t, err, "was cancelled by", "the cancelled operation ended with")
	ops, err := w.Operations(t.Context(), op.InstanceID)
	require.NoError(t, err)
	if len(ops) != 1 || ops[0].State != vnfm.StateFailedTemp || len(w.driver.objects) == 0 {
		t.Errorf("after the cancellation: %+v, objects %v", ops, w.driver.objects)
	}
	require.ErrorContains(t, lcm.Cancel(t.Context(), s, &ops[0]), "no process runs it", "Cancel of an operation that nobody runs")
	if left, err := s.List(t.Context(), store.Query{Kind: store.KindCancellation}); err != nil || len(left) > 0 {
		t.Errorf("cancellations in the store: %v, %v", left, err)
	}
	i, err := w.Update(t.Context(), op.InstanceID, spec)
	require.NoError(t, err)
	require.Equal(t, vnfm.StatusInstantiated, i.Status, "the next apply ended with")
}
