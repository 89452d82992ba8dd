package vnfd

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValues reads values that are written in roundabout ways, all into the name
// of a VDU or its profile.
func TestValues(t *testing.T) {
	const profile = "vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }\n      capabilities"
	tests := []struct {
		name, old, new string
		// vdu is what the first VDU is then called; max is its maximum.
		vdu    string
		max    int
		images int
		want   string
	}{
		{name: "get_input", old: "name: one", new: "name: { get_input: n }", vdu: "input"},
		{name: "get_input in a list", old: "name: one", new: "name: { get_input: [ n ] }", vdu: "input"},
		{name: "get_input of a part", old: "name: one", new: "name: { get_input: [ deep, names, 1 ] }", vdu: "second"},
		{name: "get_input through another input", old: "name: one", new: "name: { get_input: other }", vdu: "input"},
		{name: "get_property", old: "name: one", new: "name: { get_property: [ VDU2, name ] }", vdu: "two", want: "warning v.yaml:30:5: the VDUs VDU1 and VDU2 have the same name \"two\": give each its own properties.name\n"},
		{name: "concat", old: "name: one", new: "name: { concat: [ a-, { get_input: n }, { concat: [ -, 1.0 ] } ] }", vdu: "a-input-1.0"},
		{name: "quoted number", old: "max_number_of_instances: 3", new: "max_number_of_instances: '3'", vdu: "one", max: 3},
		{name: "part out of the list", old: "name: one", new: "name: { get_input: [ deep, names, 7 ] }", vdu: "VDU1", want: "error v.yaml:22:15: node_templates.VDU1.properties.name comes from the input \"deep\", which has no default in this file\n"},
		{name: "get_property of the node itself", old: "name: one", new: "name: { get_property: [ SELF, x ] }", vdu: "VDU1", want: "error v.yaml:22:15: node_templates.VDU1.properties.name is computed by get_property, which cannot be evaluated here; write the value itself\n"},
		{name: "input that is its own default", old: "name: one", new: "name: { get_input: circle }", vdu: "VDU1", want: "error v.yaml:8:24: node_templates.VDU1.properties.name comes from the input \"circle\", which has no default in this file\n"},
		{name: "merge key", old: profile, new: "vdu_profile: { <<: *p, max_number_of_instances: 7 }\n      capabilities", vdu: "one", max: 7},
		{name: "list of merge keys", old: profile, new: "vdu_profile: { <<: [ *q, *p ] }\n      capabilities", vdu: "one", max: 8},
		{name: "alias", old: profile, new: "vdu_profile: *p\n      capabilities", vdu: "one", max: 5},
		{name: "merge key in a list of entries", old: "      artifacts:\n", new: "      artifacts:\n        <<: [ *r, *r ]\n", vdu: "one", images: 2},
	}
	inputs := `  inputs:
    n: { default: input }
    deep: { default: { names: [ first, second ] } }
    other: { default: { get_input: n } }
    circle: { default: { get_input: circle } }
  node_templates:
`
	anchors := "x: { p: &p { min_number_of_instances: 1, max_number_of_instances: 5 }, q: &q { max_number_of_instances: 8 }, r: &r { sw_image: y, image: z } }\n"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, goodVNFD, tt.old, "the good VNFD has no")
			text := strings.Replace(goodVNFD, tt.old, tt.new, 1)
			text = strings.Replace(text, "  node_templates:\n", inputs, 1)
			text = strings.Replace(text, "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]\n", anchors, 1)
			d, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(text)}}, "v.yaml")
			assert.Equal(t, tt.want, lines(problems), "problems")
			v := d.Flavour("simple").VDU("VDU1")
			if v.Name != tt.vdu || tt.max != 0 && v.MaxInstances != tt.max || v.MinInstances != 1 {
				t.Errorf("VDU %+v", v)
			}
			require.Len(t, v.SWImages, max(tt.images, 1))
			assert.Equal(t, "i:qcow2", v.SWImages[0].File, "images")
		})
	}
}

func TestLevelsWithoutPolicy(t *testing.T) {
	from := strings.Index(goodVNFD, "    - levels:\n")
	to := strings.Index(goodVNFD, "    - vdu1_levels:\n")
	text := strings.Replace(goodVNFD[:from]+goodVNFD[to:], "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]\n", "", 1)
	d, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(text)}}, "v.yaml")
	want := `warning v.yaml:58:33: no InstantiationLevels policy declares the instantiation level "l1" of the policy vdu1_levels
warning v.yaml:58:65: no InstantiationLevels policy declares the instantiation level "l2" of the policy vdu1_levels
`
	got := lines(problems)
	assert.True(t, strings.HasPrefix(got, want), "problems:\n%s", got)
	counts, problems := Counts(d.Flavour("simple"), "l2", nil)
	if diff := cmp.Diff(map[string]int{"VDU1": 3, "VDU2": 1}, counts); diff != "" || len(problems) > 0 {
		t.Errorf("counts (-want +got):\n%s%s", diff, lines(problems))
	}
}

// TestDefaultFlavour has a top level with two flavours.
func TestDefaultFlavour(t *testing.T) {
	flavour := func(id string) string {
		return "tosca_definitions_version: tosca_simple_yaml_1_2\ntopology_template: { substitution_mappings: { node_type: x.VNF, properties: { flavour_id: " + id +
			" } }, node_templates: { v: { type: tosca.nodes.nfv.Vdu.Compute, properties: { name: v, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } } } } }\n"
	}
	top := `tosca_definitions_version: tosca_simple_yaml_1_2
imports: [ a.yaml, b.yaml ]
node_types: { x.VNF: { derived_from: tosca.nodes.nfv.VNF } }
topology_template:
  inputs: { selected: %s }
  node_templates:
    vnf:
      type: x.VNF
      properties: { descriptor_id: i, provider: p, product_name: n, software_version: v, descriptor_version: v, flavour_id: { get_input: selected } }
`
	tests := map[string]struct{ input, want, problems string }{
		"none":    {input: "{ type: string }"},
		"b":       {input: "{ default: b }", want: "b"},
		"unknown": {input: "{ default: c }", problems: "warning v.yaml:5:34: the VNF node selects the deployment flavour \"c\", which does not exist; known are \"a\", \"b\"\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, problems := readVNFD(fstest.MapFS{
				"v.yaml": {Data: []byte(strings.Replace(top, "%s", tt.input, 1))},
				"a.yaml": {Data: []byte(flavour("a"))}, "b.yaml": {Data: []byte(flavour("b"))},
			}, "v.yaml")
			require.Equal(t, tt.want, d.DefaultFlavourID)
			assert.Len(t, d.Flavours, 2, "default")
			assert.Equal(t, tt.problems, lines(problems), "problems")
		})
	}
}

// TestImportsAreBounded imports each file of a chain twice under different
// prefixes, which are as many namespaces as there are paths.
func TestImportsAreBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	const head = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
	for i := range 30 {
		next := string(rune('a'+(i+1)%26)) + strings.Repeat("x", (i+1)/26) + ".yaml"
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26) + ".yaml"
		fsys[name] = &fstest.MapFile{Data: []byte(head + "imports: [ { file: " + next + ", namespace_prefix: l }, { file: " + next + ", namespace_prefix: r } ]\n")}
	}
	fsys["ex.yaml"] = &fstest.MapFile{Data: []byte(head)}
	_, problems := readVNFD(fsys, "a.yaml")
	assert.Contains(t, lines(problems), "a.yaml:2:10: the VNFD has more than 1000 imports", "problems")
}
