package lcm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestReadinessIsChangedInPlace lets the driver look at the objects once when the
// rules of readiness change, and not beside a change of the package.
func TestReadinessIsChangedInPlace(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	update := func(wantApplies int) {
		t.Helper()
		before := w.driver.called("apply")
		i, err = w.Update(t.Context(), i.ID, spec)
		require.NoError(t, err)
		require.Equal(t, wantApplies, w.driver.called("apply")-before, "calls of apply")
		require.Equal(t, spec.Readiness, i.Readiness, "rules of the record")
	}
	spec.Readiness = []vnfm.ReadinessRule{{Kind: "apps/Deployment", Condition: "Available"}}
	update(1)
	update(0)
	spec.Readiness = []vnfm.ReadinessRule{{Kind: "apps/Deployment", Condition: "Progressing"}}
	spec.PackageID = w.onboard(t, "2.0").ID
	update(1)
	want := []string{"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED", "MODIFY_INFO COMPLETED", "CHANGE_VNFPKG COMPLETED"}
	require.Equal(t, want, w.operations(t, i.ID), "operations")
	if i.Generation != 2 {
		t.Errorf("generation %d, want 2", i.Generation)
	}
}
