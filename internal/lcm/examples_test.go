package lcm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestExamplePackages reads every example package as strictly as the provider can
// and expects not even a warning: they are what users copy.
func TestExamplePackages(t *testing.T) {
	root := filepath.Join("..", "..", "examples", "packages")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range problems {
				t.Error(problem)
			}
			if p == nil || len(p.Descriptor.Flavours) == 0 || (len(p.KubernetesFiles) == 0 && len(p.Descriptor.Flavours[0].MCIOPs) == 0) {
				t.Fatalf("package without flavours, or without manifests and charts: %+v", p)
			}
		})
	}
	if read < 2 {
		t.Errorf("only %d example packages were found", read)
	}
}
