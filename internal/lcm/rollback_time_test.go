package lcm_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// timed notes until when its calls may last. The package that it is to fail with never becomes ready.
type timed struct {
	*driver
	fails  string
	limits []time.Time
}

func (d *timed) note(ctx context.Context) {
	end, _ := ctx.Deadline()
	d.limits = append(d.limits, end)
}

func (d *timed) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	d.note(ctx)
	err := d.driver.Apply(ctx, t, r)
	if err == nil && t.Package.ID == d.fails {
		err = errBroken
	}
	return err
}

func (d *timed) Terminate(ctx context.Context, t *vnfm.Target, s vnfm.TerminateSpec, r vnfm.Recorder) error {
	d.note(ctx)
	return d.driver.Terminate(ctx, t, s, r)
}

// TestARollbackEndsInTime gives a creation and an update so much of their time limit that time is left for their rollback,
// which ends with the limit.
func TestARollbackEndsInTime(t *testing.T) {
	const limit, slack = 30 * time.Minute, 5 * time.Minute
	for _, create := range []bool{true, false} {
		w := newEnv(t)
		d := &timed{driver: w.driver}
		e := w.openWith(t, onKubernetes(d))
		spec := w.spec()
		spec.OnFailure = vnfm.OnFailureRollback
		attempt := func(ctx context.Context) error {
			_, err := e.Instantiate(ctx, spec)
			return err
		}
		if !create {
			i, err := e.Instantiate(t.Context(), spec)
			require.NoError(t, err)
			spec.PackageID = w.onboard(t, "2").ID
			attempt = func(ctx context.Context) error {
				_, err := e.Update(ctx, i.ID, spec)
				return err
			}
		}
		d.fails, d.limits = spec.PackageID, nil
		ctx, cancel := vnfm.WithTimeLimit(t.Context(), limit)
		defer cancel()
		end := time.Now().Add(limit)
		err := attempt(ctx)
		var gone *vnfm.RolledBackError
		var back *vnfm.OperationError
		if !errors.As(err, &gone) && (!errors.As(err, &back) || back.Operation.State != vnfm.StateRolledBack) {
			t.Errorf("not rolled back: %v", err)
		}
		require.Len(t, d.limits, 2)
		require.WithinDuration(t, end.Add(-limit/3), d.limits[0], slack, "the work")
		require.WithinDuration(t, end, d.limits[1], slack, "the rollback")
	}
}
