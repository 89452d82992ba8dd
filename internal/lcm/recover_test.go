package lcm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A recovered record takes the write-only parameters of management drivers from a plan without a change, which a termination
// needs. That is no operation, and the record of an instance that was not lost stays as it is.
func TestRememberParams(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	i := w.mustInstantiate(t, spec)
	other := spec
	other.SecretParams = map[string]any{"site": map[string]any{"password": "planted-other"}}
	require.NoError(t, w.RememberParams(t.Context(), i.ID, other))
	w.mustUpdate(t, i.ID, spec)
	assert.Equal(t, []string{"INSTANTIATE instantiate_end"}, d.taken())

	lost := w.lost(t)
	require.ErrorIs(t, lost.RememberParams(t.Context(), i.ID, spec), vnfm.ErrNotFound)
	onboardAs(t, lost.Engine, "test", w.sources+"/worked")
	known := spec
	known.SecretParams, known.Known = nil, vnfm.KnownState{Status: vnfm.StatusInstantiated, Generation: i.Generation}
	require.NoError(t, second(lost.RecoverInstance(t.Context(), i.ID, known)))
	for range 2 {
		require.NoError(t, lost.open(t).RememberParams(t.Context(), i.ID, spec))
	}
	assert.Empty(t, d.taken())
	assert.Empty(t, lost.operations(t, i.ID))
	notIn(t, lost.dir, "planted-secret", "planted-other")

	require.NoError(t, lost.open(t).Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	assert.Equal(t, []string{"TERMINATE terminate_start", "TERMINATE terminate_end"}, d.taken())
	assert.Equal(t, map[string]any{"site": map[string]any{"username": "root", "password": "planted-secret"}}, d.seen)
	assert.Empty(t, w.driver.objects)
}
