package kubernetes

import (
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// testTarget is a target of a package with these files, all of them manifests,
// and with one VDU per entry of counts, named like its id.
func testTarget(files map[string]string, counts map[string]int) *vnfm.Target {
	content := fstest.MapFS{}
	p := &vnfm.Package{
		ID:         "core@sha256:1",
		Name:       "core",
		Descriptor: &vnfm.Descriptor{ID: "vnfd-1"},
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content[name] = &fstest.MapFile{Data: []byte(files[name])}
		p.KubernetesFiles = append(p.KubernetesFiles, name)
	}
	p.Content = content
	f := &vnfm.Flavour{ID: "simple"}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		f.VDUs = append(f.VDUs, vnfm.VDU{ID: id, Name: id})
	}
	return &vnfm.Target{
		Instance:  &vnfm.Instance{ID: "i-1", Name: "core-1", OperationalState: vnfm.Started},
		Package:   p,
		Flavour:   f,
		Counts:    counts,
		DigestKey: []byte("key"),
	}
}

// renderOne renders a single manifest and returns its object.
func renderOne(t *testing.T, text string) *object {
	t.Helper()
	r, ps := render(budget.New(t.Context(), budget.Limits{}), testTarget(map[string]string{"a.yaml": text}, nil))
	if ps.HasErrors() {
		t.Fatalf("render: %v", ps)
	}
	if len(r.objects) != 1 {
		t.Fatalf("render made %d objects, want 1", len(r.objects))
	}
	return r.objects[0]
}

func writeFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
