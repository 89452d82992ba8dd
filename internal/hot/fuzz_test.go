package hot

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// FuzzLoad reads a top-level template with a nested one: it ends, within its budget, in the same way each time, and what
// is refused is at a place that exists.
func FuzzLoad(f *testing.F) {
	f.Add(head[strings.Index(head, "\n")+1:]+both, nestedFile[strings.Index(nestedFile, "\n")+1:])
	f.Add(deepTemplate(20, 10, 20, "1"), bomb(3, "[{ a: b }]"))
	f.Add("heat_template_version: 1\nresources: &r { VDU1: { type: VDU1.yaml, properties: { <<: *r, a: { get_file: VDU1.yaml } } } }\n", "--- ~\n--- ~\n")
	f.Add("heat_template_version: 1\nresources: { a: { type: VDU1.yaml }, b: { type: VDU1.yaml } }\n", "heat_template_version: 1\nresources: { a: { type: VDU1.yaml }, b: { type: VDU1.yaml } }\n")
	limits := budget.Limits{Bytes: 1 << 16, Values: 20_000, Steps: 200_000}
	f.Fuzz(func(t *testing.T, top, nested string) {
		const topFile, nestedFile = "BaseHOT/simple/top.yaml", "BaseHOT/simple/nested/VDU1.yaml"
		texts := map[string]string{topFile: top, nestedFile: nested}
		p := &vnfm.Package{Content: fstest.MapFS{topFile: {Data: []byte(top)}, nestedFile: {Data: []byte(nested)}}}
		s, ps := Load(budget.New(t.Context(), limits), p, router())
		assert.Equal(t, ps.HasErrors(), (s == nil), "loaded %v with %s", s != nil, lines(ps))
		for _, p := range ps {
			checkPlace(t, texts[p.File], p)
		}
		again, more := Load(budget.New(t.Context(), limits), p, router())
		assert.Equal(t, lines(ps), lines(more), "read again (-first +second)")
		if s == nil || again == nil {
			return
		}
		assert.Equal(t, s.Top, again.Top, "read again (-first +second)")
		r := Request{Flavour: router(), Counts: map[string]int{"VDU1": 2, "VDU2": 1}, VNFCs: map[string][]int{"VDU1": {0, 1}, "VDU2": {0}}, DigestKey: []byte("key")}
		s.Stack(r)
		s.Objects(r)
	})
}

// checkPlace fails when a problem is at a place that the file does not have.
func checkPlace(t *testing.T, text string, p vnfm.Problem) {
	t.Helper()
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text), "\n")
	if p.Line < 0 || p.Line > len(lines) || p.Column < 0 || p.Line > 0 && p.Column > len([]rune(lines[p.Line-1]))+1 || p.Summary == "" {
		t.Errorf("a problem at a place that is not in %d lines: %#v", len(lines), p)
	}
}
