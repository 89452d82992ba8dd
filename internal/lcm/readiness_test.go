package lcm_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	applies := func() int {
		w.driver.mu.Lock()
		defer w.driver.mu.Unlock()
		return len(slices.DeleteFunc(slices.Clone(w.driver.calls), func(c string) bool { return c != "apply" }))
	}
	update := func(wantApplies int) {
		t.Helper()
		before := applies()
		i, err = w.Update(t.Context(), i.ID, spec)
		require.NoError(t, err)
		if got := applies() - before; got != wantApplies {
			t.Errorf("the driver applied %d times, want %d", got, wantApplies)
		}
		if diff := cmp.Diff(spec.Readiness, i.Readiness); diff != "" {
			t.Errorf("rules of the record (-want +got):\n%s", diff)
		}
	}
	spec.Readiness = []vnfm.ReadinessRule{{Kind: "apps/Deployment", Condition: "Available"}}
	update(1)
	update(0)
	spec.Readiness = []vnfm.ReadinessRule{{Kind: "apps/Deployment", Condition: "Progressing"}}
	spec.PackageID = w.onboard(t, "2.0").ID
	update(1)
	want := []string{"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED", "MODIFY_INFO COMPLETED", "CHANGE_VNFPKG COMPLETED"}
	if diff := cmp.Diff(want, w.operations(t, i.ID)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if i.Generation != 2 {
		t.Errorf("generation %d, want 2", i.Generation)
	}
}
