package vnfd

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// nestedMerges is a VNFD with levels of mappings that each merge the one before twelve times.
func nestedMerges(levels int) string {
	text := "tosca_definitions_version: tosca_simple_yaml_1_3\nm0: &m0 {k: 1}\n"
	for i := 1; i <= levels; i++ {
		text += fmt.Sprintf("m%d: &m%d {<<: [%s*m%d]}\n", i, i, strings.Repeat(fmt.Sprintf("*m%d, ", i-1), 11), i-1)
	}
	return text + fmt.Sprintf("topology_template: {node_templates: *m%d}\n", levels)
}

// nestedConcat is a VNFD whose only name joins the one before twelve times, that one too, and so on.
func nestedConcat(levels int) string {
	text := "x:\n  - &c0 {concat: ['']}\n"
	for i := 1; i <= levels; i++ {
		text += fmt.Sprintf("  - &c%d {concat: [%s*c%d]}\n", i, strings.Repeat(fmt.Sprintf("*c%d, ", i-1), 11), i-1)
	}
	good := strings.Replace(goodVNFD, "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]\n", text, 1)
	return strings.Replace(good, "name: one", fmt.Sprintf("name: *c%d", levels), 1)
}

// manyVDUs is a VNFD with n small VDUs; each is scaled and has a level of its own.
func manyVDUs(n int) string {
	var s strings.Builder
	s.WriteString("tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n" +
		"    vnf: {type: tosca.nodes.nfv.VNF, properties: {descriptor_id: i, provider: p, product_name: n, software_version: v, descriptor_version: v, flavour_id: f}}\n")
	for i := range n {
		fmt.Fprintf(&s, "    v%d: {type: tosca.nodes.nfv.Vdu.Compute, properties: {name: v%d, vdu_profile: {min_number_of_instances: 1}}}\n", i, i)
	}
	s.WriteString("  policies:\n")
	for i := range n {
		fmt.Fprintf(&s, "  - p%d: {type: tosca.policies.nfv.VduInitialDelta, targets: [v%d], properties: {initial_delta: {number_of_instances: 1}}}\n", i, i)
	}
	return s.String()
}

// missingNames is a VNFD with n connection points to VDUs that do not exist.
func missingNames(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "    cp%d: {type: tosca.nodes.nfv.VduCp, requirements: [{virtual_binding: none%d}]}\n", i, i)
	}
	good := strings.Replace(goodVNFD, "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]\n", "", 1)
	return strings.Replace(good, "  groups:\n", s.String()+"  groups:\n", 1)
}

// TestHostile reads what is small and would cost much, or say much. `make bench-hostile` measures what it costs.
func TestHostile(t *testing.T) {
	tests := []struct {
		name, text string
		// want is in one of the problems, of which there are most at most.
		want string
		most int
	}{
		{"merge keys of merge keys", nestedMerges(14), "must be a mapping", 3},
		{"concat of concat", nestedConcat(12), "", 0},
		{"20,000 VDUs", manyVDUs(20_000), "", 0},
		{"5,000 missing names", missingNames(5000), "further errors are not listed: 4900", 101},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(tt.text)}}, "v.yaml")
			text := lines(problems)
			assert.LessOrEqual(t, len(problems), tt.most, "problems:\n%.1000s", text)
			assert.Contains(t, text, tt.want)
		})
	}
}

// manyOf is a VNFD whose VDUs all require the same n nodes of a type, by one list with an anchor.
func manyOf(n int, vdu, requirement, typ string) string {
	var s, list strings.Builder
	s.WriteString("tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n" +
		"    vnf: {type: tosca.nodes.nfv.VNF, properties: {descriptor_id: i, provider: p, product_name: n, software_version: v, descriptor_version: v, flavour_id: f}}\n")
	for i := range n {
		fmt.Fprintf(&s, "    n%d: {type: %s}\n", i, typ)
		fmt.Fprintf(&list, "{%s: n%d},", requirement, i)
	}
	fmt.Fprintf(&s, "    v: {type: %s, requirements: &r [%s]}\n", vdu, list.String())
	for i := range n {
		fmt.Fprintf(&s, "    v%d: {type: %s, requirements: *r}\n", i, vdu)
	}
	return s.String()
}

// TestHostileMemory reads what aliases and namespaces multiply in memory. It is refused with the limit and its place.
func TestHostileMemory(t *testing.T) {
	const mostAllocated = 384 << 20
	const head = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
	const values = "reading the VNFD was stopped here: more than 1,000,000 values, counted after aliases and merge keys are followed"
	var prefixes, types, aspects strings.Builder
	for i := range 900 {
		fmt.Fprintf(&prefixes, "- {file: b.yaml, namespace_prefix: p%d}\n", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&types, "t%d: {},", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&aspects, "            b%d: { max_scale_level: 20000, step_deltas: *s }\n", i)
	}
	steps := strings.Replace(goodVNFD, "step_deltas: [ d1 ] }\n", "step_deltas: &s ["+strings.Repeat("d1,", 20_000)+"] }\n"+aspects.String(), 1)
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"types in 900 namespaces":        {map[string]string{"v.yaml": head + "imports:\n" + prefixes.String(), "b.yaml": head + "node_types: {" + types.String() + "}\n"}, "b.yaml:2:13: " + values},
		"containers of every VDU":        {map[string]string{"v.yaml": manyOf(2000, "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit", "container", "tosca.nodes.nfv.Vdu.OsContainer")}, values},
		"storages of every VDU":          {map[string]string{"v.yaml": manyOf(2000, "tosca.nodes.nfv.Vdu.Compute", "virtual_storage", "tosca.nodes.nfv.Vdu.VirtualBlockStorage")}, values},
		"the same steps of many aspects": {map[string]string{"v.yaml": steps}, "v.yaml:48:62: reading the VNFD was stopped here: more than 20,000,000 steps of work"},
		"a long import":                  {map[string]string{"v.yaml": head + "imports: [" + strings.Repeat("x", 1<<20) + "]\n"}, " [...] "},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, text := range tt.files {
				fsys[file] = &fstest.MapFile{Data: []byte(text)}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := readVNFD(fsys, "v.yaml")
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			assert.LessOrEqual(t, allocated, uint64(mostAllocated), "%d MiB were allocated", allocated>>20)
			if text := lines(problems); !problems.HasErrors() || !strings.Contains(text, tt.want) || len(text) > 100*budget.MaxText {
				t.Errorf("no problem says %q, or one is too long:\n%.1000s", tt.want, text)
			}
		})
	}
}

// TestBudget ends readings with one problem that names the limit.
func TestBudget(t *testing.T) {
	const importing = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [b.yaml]\n"
	inputs := "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  inputs:\n    n0: {default: {get_input: n0}}\n"
	for i := 1; i <= 300; i++ {
		inputs += fmt.Sprintf("    n%d: {default: {get_input: n%d}}\n", i, i-1)
	}
	tests := []struct {
		name   string
		files  map[string]string
		limits budget.Limits
		want   string
	}{
		{"steps", map[string]string{"v.yaml": importing, "b.yaml": manyVDUs(100)}, budget.Limits{Steps: 1000},
			"error b.yaml:24:10: reading the VNFD was stopped here: more than 1,000 steps of work\n"},
		{"bytes of the entry", map[string]string{"v.yaml": importing}, budget.Limits{Bytes: 10}, "error v.yaml: with this file the VNFD has more than 10 bytes of text\n"},
		{"bytes of an import", map[string]string{"v.yaml": importing, "b.yaml": manyVDUs(1)}, budget.Limits{Bytes: 100},
			"error b.yaml: with this file the VNFD has more than 100 bytes of text\n"},
		{"values", map[string]string{"v.yaml": goodVNFD}, budget.Limits{Values: 20},
			"error v.yaml:10:9: the file has more than 20 values, counted after aliases and merge keys are followed\n"},
		{"functions that are nested too deep", map[string]string{"v.yaml": inputs + "  node_templates: {v: {type: {get_input: n300}}}\n"}, budget.Limits{},
			"error v.yaml:104:21: reading the VNFD was stopped here: more than 200 levels of nested values\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, text := range tt.files {
				fsys[file] = &fstest.MapFile{Data: []byte(text)}
			}
			_, problems := Read(budget.New(t.Context(), tt.limits), fsys, "v.yaml")
			assert.Equal(t, tt.want, lines(problems), "problems")
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range map[string]string{"merges": nestedMerges(14), "concat": nestedConcat(12), "VDUs": manyVDUs(5_000), "names": missingNames(5_000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(text)}}, "v.yaml")
			}
		})
	}
}
