package lcm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestHealOfWhatIsBroken heals before a change of the package when VNFCs are not ready, with the package that they are of, and
// after it when all are.
func TestHealOfWhatIsBroken(t *testing.T) {
	for name, broken := range map[string]bool{"broken": true, "healthy": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			spec := w.spec()
			i := w.mustInstantiate(t, spec)
			w.driver.vnfcs, w.driver.broken = []string{"VDU1-1"}, broken
			next := spec
			next.PackageID, next.Heal = w.onboard(t, "2").ID, &vnfm.HealSpec{Trigger: "1"}
			want, of := []string{"INSTANTIATE COMPLETED", "CHANGE_VNFPKG COMPLETED", "HEAL COMPLETED"}, next.PackageID
			if broken {
				want[1], want[2], of = want[2], want[1], spec.PackageID
			}
			i = w.mustUpdate(t, i.ID, next)
			require.Equal(t, want, w.operations(t, i.ID), "operations")
			require.Equal(t, []string{of}, w.driver.healed)
			require.Equal(t, next.PackageID, i.PackageID)
		})
	}
}
