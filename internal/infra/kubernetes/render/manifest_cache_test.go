package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestManifestCache reads a text twice and changes what the first time gave: the second
// is what is written. What cannot be read says so each time.
func TestManifestCache(t *testing.T) {
	var d manifestCache
	read := func(text string) ([]manifest, vnfm.Problems) {
		var ps vnfm.Problems
		return d.manifests(budget.New(t.Context(), budget.Limits{}), "a.yaml", []byte(text), &ps), ps
	}
	const text = "a: {b: [{c: 1}]}\n---\nd: e\n"
	first, ps := read(text)
	if len(first) != 2 || len(ps) > 0 {
		t.Fatalf("read %v, %v", first, ps)
	}
	kube.SetNested(first[0].content, "changed", "a", "b")
	delete(first[1].content, "d")
	for range 2 {
		again, _ := read(text)
		want := []any{map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": int64(1)}}}}, map[string]any{"d": "e"}}
		if diff := cmp.Diff(want, []any{again[0].content, again[1].content}); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
		again[0].content["a"] = nil
	}
	for range 2 {
		again, _ := read(text)
		if n := again[1].at("d"); n.Line != 3 || n.Column != 4 || again[1].node.Line != 3 {
			t.Errorf("the place of d is %d:%d", n.Line, n.Column)
		}
	}
	if len(d.byID) != 1 || d.size != len(text) {
		t.Errorf("%d texts of %d bytes are kept", len(d.byID), d.size)
	}
	for range 2 {
		if _, ps := read("a: {"); len(ps) != 1 {
			t.Errorf("a text that is not YAML has the problems %v", ps)
		}
	}
}
