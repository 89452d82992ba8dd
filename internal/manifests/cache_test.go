package manifests

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// TestManifestCache reads a text twice and changes what the first time gave: the second
// is what is written. What cannot be read says so each time.
func TestManifestCache(t *testing.T) {
	var d cache
	read := func(text string) ([]Manifest, vnfm.Problems) {
		var ps vnfm.Problems
		return d.read(budget.New(t.Context(), budget.Limits{}), fstest.MapFS{"a.yaml": {Data: []byte(text)}}, "a.yaml", &ps), ps
	}
	const text = "a: {b: [{c: 1}]}\n---\nd: e\n"
	first, ps := read(text)
	if len(first) != 2 || len(ps) > 0 {
		t.Fatalf("read %v, %v", first, ps)
	}
	kube.SetNested(first[0].Content, "changed", "a", "b")
	delete(first[1].Content, "d")
	for range 2 {
		again, _ := read(text)
		want := []any{map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": int64(1)}}}}, map[string]any{"d": "e"}}
		if diff := cmp.Diff(want, []any{again[0].Content, again[1].Content}); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
		again[0].Content["a"] = nil
	}
	for range 2 {
		again, _ := read(text)
		if n := again[1].At("d"); n.Line != 3 || n.Column != 4 || again[1].Node.Line != 3 {
			t.Errorf("the place of d is %d:%d", n.Line, n.Column)
		}
	}
	if len(d.byID) != 1 || d.size != int64(len(text)) {
		t.Errorf("%d texts of %d bytes are kept", len(d.byID), d.size)
	}
	for range 2 {
		if _, ps := read("a: {"); len(ps) != 1 {
			t.Errorf("a text that is not YAML has the problems %v", ps)
		}
	}
}

// TestBudgetOfCachedTexts refuses the same texts whether they were read before or not.
func TestBudgetOfCachedTexts(t *testing.T) {
	var d cache
	for range 2 {
		b := budget.New(t.Context(), budget.Limits{Values: 20})
		var got []string
		for i := range 3 {
			var ps vnfm.Problems
			name := fmt.Sprintf("%d.yaml", i)
			d.read(b, fstest.MapFS{name: {Data: []byte("a: b\nc: d\n")}}, name, &ps)
			for _, p := range ps {
				got = append(got, p.String())
			}
		}
		want := []string{"2.yaml:1:4: the file has more than 20 values, counted after aliases and merge keys are followed"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// oneRead are files with known digests that can be opened once.
type oneRead struct {
	fstest.MapFS
	opened map[string]bool
}

func (f oneRead) FileDigest(name string) string { return digestOf(f.MapFS[name].Data) }

func (f oneRead) Open(name string) (fs.File, error) {
	if f.opened[name] {
		return nil, fs.ErrPermission
	}
	f.opened[name] = true
	return f.MapFS.Open(name)
}

func (f oneRead) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

// TestKnownDigest opens a file once whose digest is known.
func TestKnownDigest(t *testing.T) {
	var d cache
	files := oneRead{fstest.MapFS{"a.yaml": {Data: []byte("a: b\n")}}, map[string]bool{}}
	for range 2 {
		var ps vnfm.Problems
		if all := d.read(budget.New(t.Context(), budget.Limits{}), files, "a.yaml", &ps); len(all) != 1 || len(ps) > 0 {
			t.Fatalf("read %v, %v", all, ps)
		}
	}
}

// TestKeepObjects reads what was parsed as objects before, without its file and at the same cost; and nothing else.
func TestKeepObjects(t *testing.T) {
	for text, want := range map[string]bool{
		"a: {b: 1, c: [2, y]}\n---\nd: null\n":  true,
		"kind: List\nitems: [{a: b}, {c: d}]\n": true,
		"a: 1\na: 2\n":                          false,
		"a: !x b\n":                             false,
		"a: &a [1, 2, 3]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n": false,
	} {
		var d, other cache
		files := oneRead{fstest.MapFS{"a.yaml": {Data: []byte(text)}}, map[string]bool{}}
		parsing := budget.New(t.Context(), budget.Limits{})
		docs, _ := yamlpos.Parse(parsing, "a.yaml", []byte(text), yamlpos.Options{LastKeyWins: true})
		bytes, values := parsing.Taken()
		d.keepObjects(parsing, "a.yaml", []byte(text), docs, values)
		if _, after := parsing.Taken(); after != values {
			t.Errorf("%q: keeping it takes %d values", text, after-values)
		}
		again := budget.New(t.Context(), budget.Limits{})
		if kept := d.holdsObjects(again, files, "a.yaml"); kept != want {
			t.Errorf("%q is kept: %v", text, kept)
		}
		if b, v := again.Taken(); want && (b != bytes || v != values) {
			t.Errorf("%q: known objects take %d bytes and %d values, want %d and %d", text, b, v, bytes, values)
		}
		if !want {
			continue
		}
		files.opened["a.yaml"] = true
		rendering, fresh := budget.New(t.Context(), budget.Limits{}), budget.New(t.Context(), budget.Limits{})
		var ps, more vnfm.Problems
		contents := func(all []Manifest) []any {
			var out []any
			for _, m := range all {
				out = append(out, m.Content, m.Node.Line, m.Node.Column)
			}
			return out
		}
		got := contents(d.read(rendering, files, "a.yaml", &ps))
		wanted := contents(other.read(fresh, files.MapFS, "a.yaml", &more))
		if diff := cmp.Diff(wanted, got) + cmp.Diff(more, ps); diff != "" {
			t.Errorf("%q (-read as before +kept):\n%s", text, diff)
		}
		b1, v1 := rendering.Taken()
		if b2, v2 := fresh.Taken(); b1 != b2 || v1 != v2 {
			t.Errorf("%q: what was kept takes %d bytes and %d values, want %d and %d", text, b1, v1, b2, v2)
		}
	}
}

// TestBudgetOfKnownObjects refuses a file that the budget does not reach for, known or not.
func TestBudgetOfKnownObjects(t *testing.T) {
	var d cache
	text := []byte("a: b\n")
	files := oneRead{fstest.MapFS{"a.yaml": {Data: text}}, map[string]bool{}}
	b := budget.New(t.Context(), budget.Limits{})
	docs, _ := yamlpos.Parse(b, "a.yaml", text, yamlpos.Options{LastKeyWins: true})
	d.keepObjects(b, "a.yaml", text, docs, 3)
	if !d.holdsObjects(b, files, "a.yaml") || d.holdsObjects(budget.New(t.Context(), budget.Limits{Values: 2}), files, "a.yaml") {
		t.Error("a budget of two values reaches for three")
	}
	short := budget.New(t.Context(), budget.Limits{Values: 2})
	if d.holdsObjects(short, files, "a.yaml"); short.Err() != nil {
		t.Errorf("nothing was read, and the budget has %v", short.Err())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if d.holdsObjects(budget.New(ended, budget.Limits{}), files, "a.yaml") {
		t.Error("a budget that has ended reaches")
	}
}
