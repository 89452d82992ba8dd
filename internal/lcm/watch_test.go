package lcm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// watcher is a worker that looks whether what it has set up is as it should be.
type watcher struct {
	*worker
	found map[string]string
	err   error
	looks int
}

func (d *watcher) Watch(ctx context.Context, call *vnfm.HookCall) (map[string]string, error) {
	d.looks, d.seen = d.looks+1, call.Params
	state := map[string]int{}
	if err := call.State.Load(&state); err != nil || state["instantiate_end"] != 1 {
		return nil, errBroken
	}
	call.Recorder.Progress(ctx, "looking")
	return d.found, d.err
}

// Run ends the difference.
func (d *watcher) Run(ctx context.Context, call *vnfm.HookCall) error {
	d.found = nil
	return d.worker.Run(ctx, call)
}

// What a management driver finds at a refresh is drift, which the next apply repairs with its hooks.
func TestDriversWatch(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	looks := &watcher{worker: d}
	w.manage(t, looks)
	i := w.mustInstantiate(t, spec)
	d.taken()
	drifted := func() []string {
		seen, err := w.Observe(t.Context(), i.ID)
		require.NoError(t, err)
		var out []string
		for _, text := range seen.Objects {
			if strings.HasPrefix(text, vnfm.Drifted) {
				out = append(out, text)
			}
		}
		return out
	}
	require.Empty(t, drifted())
	same(t, "the secret", d.seen["site"].(map[string]any)["password"], any("planted-secret")) //nolint:forcetypeassert // a test
	w.mustUpdate(t, i.ID, spec)
	same(t, "without a difference", d.taken(), []string(nil))

	w.driver.vnfcs = []string{"VDU1-1"}
	looks.found = map[string]string{"VDU1": "two ports, not three"}
	same(t, "drift", drifted(), []string{"drifted: two ports, not three"})
	w.mustUpdate(t, i.ID, spec)
	same(t, "repair", d.taken(), []string{"HEAL heal_start", "HEAL heal_end"})
	require.Empty(t, drifted())
	operations, err := w.Operations(t.Context(), i.ID)
	require.NoError(t, err)
	same(t, "cause", operations[len(operations)-1].Parameters["cause"], any("changed outside of Terraform: VDU VDU1: two ports, not three"))

	// What cannot be looked at is said by a refresh, which sees the rest, and is no reason for an operation.
	looks.err = errBroken
	seen, err := w.Observe(t.Context(), i.ID)
	require.ErrorIs(t, err, errBroken)
	require.NotEmpty(t, seen.Objects)
	w.mustUpdate(t, i.ID, spec)
	same(t, "with an error", d.taken(), []string(nil))
}

// Nobody looks at what is not there, and a driver that no repair would call is not asked.
func TestDriversWatch_notCalled(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	looks := &watcher{worker: d}
	w.manage(t, looks)
	spec.OperationalState = vnfm.Stopped
	i := w.mustInstantiate(t, spec)
	_, err := w.Observe(t.Context(), i.ID)
	require.NoError(t, err)
	same(t, "looks", looks.looks, 0)
}
