package lcm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestExamplePackages reads every example package as strictly as the provider can
// and expects not even a warning: they are what users copy.
func TestExamplePackages(t *testing.T) {
	root := filepath.Join("..", "..", "examples", "packages")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	read := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		read++
		t.Run(entry.Name(), func(t *testing.T) {
			p, problems, err := lcm.New(lcm.Config{}).ReadPackage(t.Context(), vnfm.PackageSpec{
				Name: entry.Name(), Source: filepath.Join(root, entry.Name()), Integrity: "enforce", Signature: "verify_if_present",
			})
			require.NoError(t, err)
			for _, problem := range problems {
				t.Error(problem)
			}
			require.NotNil(t, p, "package without flavours")
			require.NotEmpty(t, p.Descriptor.Flavours, "package without flavours")
			if strings.HasPrefix(entry.Name(), "management-cluster") {
				// Its manifests are Cluster API's own: scripts/management-cluster-package adds them.
				return
			}
			describes := func(v vnfm.VDU) bool { return v.Workload != nil }
			if len(p.KubernetesFiles)+len(p.Descriptor.Flavours[0].MCIOPs) == 0 && !slices.ContainsFunc(p.Descriptor.Flavours[0].VDUs, describes) {
				loadStacks(t, p)
			}
		})
	}
	require.GreaterOrEqual(t, read, 2, "example packages")
}

// loadStacks makes the Heat stacks of a package that has neither manifests nor charts
// nor containers.
func loadStacks(t *testing.T, p *vnfm.Package) {
	t.Helper()
	for i := range p.Descriptor.Flavours {
		f := &p.Descriptor.Flavours[i]
		_, problems := hot.Load(budget.New(t.Context(), budget.Limits{}), p, f)
		for _, problem := range problems {
			t.Errorf("flavour %s: %s", f.ID, problem)
		}
	}
}
