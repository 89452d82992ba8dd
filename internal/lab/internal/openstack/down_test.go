package openstack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// TestDownLeavesKubernetes: the directory of a lab of Kubernetes is not deleted, whether or not a lab of OpenStack is in it.
func TestDownLeavesKubernetes(t *testing.T) {
	dir, err := layout.Open(filepath.Join(t.TempDir(), "lab"))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.SaveState(&layout.State{}); err != nil {
		t.Fatal(err)
	}
	lab := &Lab{Dir: dir}
	if err := lab.Down(t.Context()); err == nil || !strings.Contains(err.Error(), "is one of Kubernetes: stop it with `lab down --dir ") {
		t.Errorf("no lab of OpenStack: %v", err)
	}
	if err := dir.SaveOpenStack(&layout.OpenStack{}); err != nil {
		t.Fatal(err)
	}
	if err := lab.Down(t.Context()); err != nil {
		t.Errorf("both: %v", err)
	}
	if _, err := os.Stat(dir.Path("state.json")); err != nil || dir.IsOpenStack() {
		t.Errorf("the lab of Kubernetes: %v, of OpenStack is left: %t", err, dir.IsOpenStack())
	}
}
