package manifests

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAFileThatCannotBeRead has no advice about sizes where the size is not the cause.
func TestAFileThatCannotBeRead(t *testing.T) {
	var d cache
	files := fstest.MapFS{"a.yaml": {Data: []byte("a: b\n")}}
	for name, want := range map[string]bool{"a.yaml": true, "gone.yaml": false} {
		var ps vnfm.Problems
		d.read(budget.New(t.Context(), budget.Limits{Bytes: 1}), files, name, &ps)
		if len(ps) != 1 || strings.Contains(ps[0].Detail, "fewer or smaller") != want {
			t.Errorf("%s: %v", name, ps)
		}
	}
}

// TestWritten gives the digest of an object as its file has it, and of no other.
func TestWritten(t *testing.T) {
	var d cache
	read := func() Manifest {
		var ps vnfm.Problems
		files := fstest.MapFS{"a.yaml": {Data: []byte("a: {b: [1, 1.5, true, x]}\nc: {}\n")}}
		all := d.read(budget.New(t.Context(), budget.Limits{}), files, "a.yaml", &ps)
		if len(all) != 1 || len(ps) > 0 {
			t.Fatalf("read %v, %v", all, ps)
		}
		return all[0]
	}
	same := read()
	same.Written.NoteDigest(map[string]any{"a": 1}, "of another one")
	if got := same.Written.Digest(same.Content); got != "" {
		t.Errorf("nothing was noted, and the digest is %q", got)
	}
	same.Written.NoteDigest(same.Content, "sha256:1")
	list := func(values ...any) map[string]any { return map[string]any{"b": values} }
	for name, change := range map[string]func(content map[string]any){
		"a value":       func(c map[string]any) { c["a"] = list(int64(2), 1.5, true, "x") },
		"another type":  func(c map[string]any) { c["a"] = list("1", 1.5, true, "x") },
		"a type of Go":  func(c map[string]any) { c["a"] = list(1, 1.5, true, "x") },
		"a new field":   func(c map[string]any) { c["c"] = map[string]any{"d": nil} },
		"another field": func(c map[string]any) { delete(c, "c"); c["d"] = map[string]any{} },
		"one less":      func(c map[string]any) { delete(c, "c") },
		"a shorter one": func(c map[string]any) { c["a"] = list(int64(1)) },
	} {
		changed := read()
		if got := changed.Written.Digest(changed.Content); got != "sha256:1" {
			t.Errorf("read again, the digest is %q", got)
		}
		change(changed.Content)
		if got := changed.Written.Digest(changed.Content); got != "" {
			t.Errorf("%s is changed, and the digest is %q", name, got)
		}
	}
	var none *Written
	if none.NoteDigest(nil, "x"); none.Digest(nil) != "" {
		t.Error("what is not kept has a digest")
	}
}
