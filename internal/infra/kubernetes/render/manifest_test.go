package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/manifests"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// FuzzManifests reads a text as a file of the package and as a rendered template. Reading stays within the budget, always has the
// same result, and reports problems only at existing lines.
func FuzzManifests(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &d {a: b, <<: {c: d}}\nmore: [*d, *d]\n---\n",
		"apiVersion: v1\nkind: List\nitems:\n- a\n- &s {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {b: '%'}}\n- *s\n",
		"kind: List\nitems: [{kind: List, items: [{kind: ConfigMapList, items: []}]}]\n", "a: 1\na: 2\n? [b]\n: {c: !x d}\ne: .inf\n", "- a\n--- b\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: amf, labels: {a: 1}, annotations: {b: yes}}\nspec: {replicas: 0x2}\n",
	} {
		f.Add([]byte(seed))
	}
	limits := budget.Limits{Bytes: 1 << 16, Values: 20_000}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(string(text)), "\n")
		for _, rendered := range []bool{false, true} {
			read := func() ([]map[string]any, vnfm.Problems) {
				var ps vnfm.Problems
				var out []map[string]any
				for _, m := range asWritten(manifests.Decode(budget.New(t.Context(), limits), "a.yaml", text, rendered, &ps)) {
					if o := renderObject(&m, &ps); o != nil {
						out = append(out, o.Content)
					}
				}
				return out, ps
			}
			got, ps := read()
			for _, p := range ps {
				if p.File != "a.yaml" || p.Summary == "" || p.Line < 0 || p.Line > len(lines) || p.Column < 0 ||
					p.Line > 0 && p.Column > len([]rune(lines[p.Line-1]))+1 || rendered && p.Line+p.Column > 0 {
					t.Errorf("a problem at a place that is not in %d lines: %#v", len(lines), p)
				}
			}
			again, more := read()
			assert.Empty(t, cmp.Diff(got, again)+cmp.Diff(ps, more), "read again (-first +second)")
		}
	})
}

// BenchmarkDecode reads a file of 1 MB.
func BenchmarkDecode(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 1_000_000; i++ {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a%d\n  labels: {app: amf, part: a%d}\ndata:\n", i, i)
		for j := range 40 {
			fmt.Fprintf(&text, "  key%d: value %d of the configuration\n", j, j)
		}
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		var ps vnfm.Problems
		if len(manifests.Decode(budget.New(b.Context(), budget.Limits{}), "a.yaml", []byte(text.String()), false, &ps)) == 0 || len(ps) > 0 {
			b.Fatal(ps)
		}
	}
}

// BenchmarkHostile reads 1 MiB of manifests with as many values as there is room for.
func BenchmarkHostile(b *testing.B) {
	flat := "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: [" + strings.Repeat("0,", 1<<19) + "0]\n"
	aliases := "a0: &a0 [0,0,0,0,0,0,0,0,0,0]\n"
	for i := range 8 {
		aliases += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	for name, text := range map[string]string{"values": flat, "documents": strings.Repeat("---\na: b\n", 1<<17), "aliases": aliases} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var ps vnfm.Problems
				manifests.Decode(budget.New(b.Context(), budget.Limits{}), "a.yaml", []byte(text), true, &ps)
			}
		})
	}
}
