package lcm_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDryRun hands the driver what an instance would be, new or as its record is,
// and nothing any more in a process that applies.
func TestDryRun(t *testing.T) {
	w := newWorld(t)
	keys := []string{"v1/ConfigMap a"}
	spec := w.spec()
	planning := w.open(t)
	try := func(id string, want ...string) {
		t.Helper()
		ps, err := planning.DryRunInstance(t.Context(), id, spec, keys)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range ps {
			got = append(got, p.Summary)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	try("", `v1/ConfigMap a in default as ""`)
	i, err := w.Instantiate(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Namespace = "default"
	try(i.ID, `v1/ConfigMap a in default as "`+i.ID+`"`)
	try("lost", `v1/ConfigMap a in default as "lost"`)
	spec.VIMID = "unknown"
	if _, err := planning.DryRunInstance(t.Context(), "", spec, keys); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("a VIM that is not registered: %v", err)
	}
	spec.VIMID = w.vimID
	planning = w.Engine
	try(i.ID)
}
