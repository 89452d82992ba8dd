package lcm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestADeletedClusterIsInstantiatedAgain updates a cluster that its termination, which was
// interrupted, has removed: the plan and the update have the same operation.
func TestADeletedClusterIsInstantiatedAgain(t *testing.T) {
	w, _ := newClusterEnv(t)
	spec := w.clusterSpec()
	i := w.mustInstantiate(t, spec)
	w.driver.breaks("terminate")
	require.Error(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	w.driver.fail = nil
	clear(w.driver.objects)

	spec.Known = vnfm.KnownState{Status: vnfm.StatusInstantiated, Gone: true, Generation: i.Generation}
	planned, err := w.PlanUpdate(t.Context(), i.ID, spec, map[string]string{"v1/ConfigMap a": "", "apps/v1/Deployment b": ""})
	require.NoError(t, err)
	require.Equal(t, []string{"INSTANTIATE cluster: 2 objects"}, planned.Operations)
	again := w.mustUpdate(t, i.ID, spec)
	require.Equal(t, vnfm.StatusInstantiated, again.Status)
	require.Greater(t, again.Generation, i.Generation)
	require.Len(t, w.driver.objects, 2)
	require.Equal(t, []string{"INSTANTIATE COMPLETED", "TERMINATE FAILED", "INSTANTIATE COMPLETED"}, w.operations(t, i.ID))

	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.Empty(t, w.driver.objects)
}
