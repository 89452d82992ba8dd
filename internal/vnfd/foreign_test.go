package vnfd

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestForeign reads descriptors of something else than a VNF: each is named for what it is, and nothing else is said.
func TestForeign(t *testing.T) {
	const head, advice = "tosca_definitions_version: tosca_simple_yaml_1_3\n", "; a VNF manager takes VNF packages, whose VNFD is a TOSCA service template (SOL001)\n"
	const older = " of the TOSCA NFV profile; of that, VDUs of containers are read alone (tosca.nodes.nfv.VDU.Tacker with vnfcs)"
	nodes := func(list string) string { return "topology_template:\n  node_templates:\n" + list }
	tests := []struct {
		name, text, want string
		files            map[string]string
	}{
		{
			name: "network service with its VNF",
			text: head + "imports: [ none.yaml ]\n" + nodes("    ns: { type: tosca.nodes.nfv.NS, properties: { descriptor_id: ns-1 } }\n    vnf: { type: tosca.nodes.nfv.VNF, properties: { descriptor_id: vnf-1, flavour_id: simple } }\n"),
			want: "error v.yaml:5:5: the file describes a network service: the node ns has the type tosca.nodes.nfv.NS",
		},
		{
			name: "network service of a derived type",
			text: head + "node_types:\n  example.NS: { derived_from: tosca.nodes.nfv.NS }\n" + nodes("    ns: { type: example.NS }\n"),
			want: "error v.yaml:6:5: the file describes a network service: the node ns has the type example.NS",
		},
		{
			name:  "network service in an import",
			text:  head + "imports: [ ns.yaml ]\n",
			files: map[string]string{"ns.yaml": head + nodes("    access: { type: tosca.nodes.nfv.Sap }\n")},
			want:  "error ns.yaml:4:5: the file describes a network service: the node access has the type tosca.nodes.nfv.Sap",
		},
		{
			name: "flavour of a network service",
			text: head + "topology_template:\n  substitution_mappings: { node_type: tosca.nodes.nfv.NS }\n",
			want: "error v.yaml:3:39: the file describes a network service: substitution_mappings has the node_type tosca.nodes.nfv.NS",
		},
		{
			name: "virtual link of a network service",
			text: strings.Replace(goodVNFD, "tosca.nodes.nfv.VnfVirtualLink", "tosca.nodes.nfv.NsVirtualLink", 1),
			want: "error v.yaml:39:5: the file describes a network service: the node net has the type tosca.nodes.nfv.NsVirtualLink",
		},
		{
			name: "PNF",
			text: head + nodes("    pnf: { type: tosca.nodes.nfv.PNF, properties: { descriptor_id: a } }\n"),
			want: "error v.yaml:4:5: the file describes a physical network function (PNF): the node pnf has the type tosca.nodes.nfv.PNF",
		},
		{
			name: "ASD",
			text: head + nodes("    asd: { type: tosca.nodes.asd, properties: { descriptor_id: a } }\n"),
			want: "error v.yaml:4:5: the file describes an application (ASD, the application service descriptor of O-RAN and ONAP): the node asd has the type tosca.nodes.asd",
		},
		{
			name: "VNFD of OSM",
			text: "vnfd:\n  id: hackfest_basic-vnf\n  vdu: []\n",
			want: "error v.yaml:1:1: the file is a VNFD of SOL006 (YANG), the form of OSM",
		},
		{
			name: "VNFD of OSM with a prefix",
			text: "vnfd:vnfd-catalog:\n  vnfd: []\n",
			want: "error v.yaml:1:1: the file is a VNFD of SOL006 (YANG), the form of OSM",
		},
		{
			name: "network service of OSM",
			text: "nsd:\n  nsd: []\n",
			want: "error v.yaml:1:1: the file is a network service descriptor of SOL006 (YANG), the form of OSM",
		},
		{
			name: "NFV profile",
			text: "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\n" + nodes("    VDU1: { type: tosca.nodes.nfv.VDU }\n    CP1: { type: tosca.nodes.nfv.CP }\n"),
			want: "error v.yaml:4:5: the file is older than SOL001: the node VDU1 has the type tosca.nodes.nfv.VDU" + older,
		},
		{
			name: "servers of Tacker",
			text: "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\n" + nodes("    VDU1: { type: tosca.nodes.nfv.VDU.Tacker, properties: { image: cirros } }\n"),
			want: "error v.yaml:4:5: the file is older than SOL001: the node VDU1 has the type tosca.nodes.nfv.VDU.Tacker" + older,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{"v.yaml": {Data: []byte(tt.text)}}
			for file, text := range tt.files {
				fsys[file] = &fstest.MapFile{Data: []byte(text)}
			}
			_, problems := readVNFD(fsys, "v.yaml")
			assert.Equal(t, tt.want+advice, lines(problems), "problems")
		})
	}
}

// TestManyTypesThatDoNotExist: the nearest of each is not looked for without end.
func TestManyTypesThatDoNotExist(t *testing.T) {
	var text strings.Builder
	text.WriteString("tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n")
	for i := range 20_000 {
		_, _ = fmt.Fprintf(&text, "    n%d: { type: tosca.nodes.nfv.Vdu.compute }\n", i)
	}
	start := time.Now()
	_, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(text.String())}}, "v.yaml")
	require.Len(t, problems, mostProblems+1)
	require.Contains(t, problems[0].Summary, "the nearest is tosca.nodes.nfv.Vdu.Compute")
	require.NotContains(t, problems[maxSuggestions].Summary, "nearest")
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"tosca.nodes.nfv.Vdu.compute":                    "tosca.nodes.nfv.Vdu.Compute",
		"tosca.nodes.nfv.Compute":                        "",
		"tosca.nodes.nfv.Vdu.BlockStorage":               "",
		"tosca.nodes.nfv.VirtualLink":                    "tosca.nodes.nfv.VnfVirtualLink",
		"tosca.policies.nfv.VduInitialDeltas":            "tosca.policies.nfv.VduInitialDelta",
		"tosca.policies.nfv.ScalingAspect":               "tosca.policies.nfv.ScalingAspects",
		"tosca.policies.Vendor":                          "",
		"tosca.x":                                        "",
		"tosca.nodes.nfv." + strings.Repeat("x", 100000): "",
	} {
		require.Equal(t, want, nearest(name), name)
	}
}
