package vnfd

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// lines renders problems with their severity, one per line.
func lines(ps vnfm.Problems) string {
	var b strings.Builder
	for _, p := range ps {
		if p.Severity == vnfm.SeverityError {
			b.WriteString("error ")
		} else {
			b.WriteString("warning ")
		}
		b.WriteString(p.String())
		b.WriteString("\n")
	}
	return b.String()
}

func ptr(n int) *int { return &n }

func TestReadSeveralFiles(t *testing.T) {
	d, problems := readVNFD(os.DirFS("testdata/edge"), "Definitions/edge_top.yaml")
	assert.Empty(t, cmp.Diff(edge(), d, cmpopts.IgnoreTypes(vnfm.Place{})), "descriptor")
	want := `warning Definitions/edge_top.yaml:6:5: the import etsi_nfv_sol001_common_types.yaml is not in the package; the ETSI types are known
warning Definitions/edge_top.yaml:7:5: the import https://example.com/types/etsi_nfv_sol001_vnfd_types_v2.6.1.yaml is not fetched; the ETSI types are known
warning Definitions/edge_base.yaml:5:18: the import edge_types.yaml is circular: Definitions/edge_top.yaml -> Definitions/edge_types.yaml -> Definitions/edge_base.yaml -> Definitions/edge_types.yaml
warning Definitions/flavours/edge_small.yaml:27:21: the file "../../Scripts/small.sh" of the artifact small_hook of the node SBC is not in the package
warning Definitions/flavours/edge_small.yaml:63:17: the file "../Files/images/signal.qcow2" of the artifact sw_image of the node signal is not in the package
warning Definitions/flavours/edge_small.yaml:85:17: the file "../Files/images/disk.raw" of the artifact disk_image of the node signal_disk is not in the package
warning Definitions/flavours/edge_large.yaml:99:20: the policy security targets "media", which is not a connection point of the flavour
`
	assert.Equal(t, want, lines(problems), "problems")
}

func TestReadOneFile(t *testing.T) {
	d, problems := readVNFD(os.DirFS("testdata/single"), "./Definitions/core.yaml")
	assert.Empty(t, cmp.Diff(core(), d, cmpopts.IgnoreTypes(vnfm.Place{})), "descriptor")
	want := "warning Definitions/core.yaml:5:11: the import etsi_nfv_sol001_vnfd_types.yaml is not in the package; the ETSI types are known\n" +
		"warning Definitions/core.yaml:82:17: the file \"README.txt\" of the artifact readme of the node amf_sidecar is not in the package\n"
	assert.Equal(t, want, lines(problems), "problems")
}

func TestParseEqualsReadForOneFile(t *testing.T) {
	data, err := os.ReadFile("testdata/single/Definitions/core.yaml")
	require.NoError(t, err)
	d, problems := parseVNFD("core.yaml", data)
	assert.Empty(t, cmp.Diff(core(), d, cmpopts.IgnoreTypes(vnfm.Place{})), "descriptor")
	assert.Empty(t, problems, "problems:\n%s", lines(problems))
}

func TestParseTopLevel(t *testing.T) {
	data, err := os.ReadFile("testdata/edge/Definitions/edge_top.yaml")
	require.NoError(t, err)
	_, problems := parseVNFD("edge_top.yaml", data)
	want := `warning edge_top.yaml:8:5: the import edge_types.yaml is not read here
warning edge_top.yaml:9:12: the import flavours/edge_small.yaml is not read here
warning edge_top.yaml:10:11: the import flavours/edge_large.yaml is not read here
warning edge_top.yaml:20:5: the VNF node SBC has no descriptor_id here
warning edge_top.yaml:1:1: the deployment flavours are in other files, which are not read here
`
	assert.Equal(t, want, lines(problems), "problems")
}

// edge is what testdata/edge says.
func edge() *vnfm.Descriptor {
	vdu := func(id string) vnfm.VDU {
		return vnfm.VDU{ID: id, Name: id, Type: "example.nodes.MediaVdu", MinInstances: 1, MaxInstances: 9, InitialDelta: ptr(1)}
	}
	common := vnfm.Implementation{Artifact: "common_hook", File: "../Scripts/common.py", Type: "tosca.artifacts.Implementation.Python"}
	return &vnfm.Descriptor{
		ID: "sbc-3", Provider: "yes", ProductName: "Edge SBC", SoftwareVersion: "2024-01-31", Version: "1.0",
		VNFMInfo:         []string{"0:vnfm", "1.10"},
		DefaultFlavourID: "small",
		Flavours: []vnfm.Flavour{
			{
				ID: "small", Description: "one signalling server",
				VDUs: []vnfm.VDU{{
					ID: "signal", Name: "signal", Description: "signalling", Type: "tosca.nodes.nfv.Vdu.Compute",
					MinInstances: 1, MaxInstances: 3, InitialDelta: ptr(1), CPUs: 2, MemoryBytes: 2 << 30,
					StorageIDs: []string{"signal_disk", "shared_disk"}, Compute: &vnfm.Compute{BootOrder: []string{"signal_disk"}},
					SWImages: []vnfm.SWImage{{
						ID: "sw_image", Name: "signal-image", Version: "1.20", File: "../Files/images/signal.qcow2",
						ContainerFormat: "bare", DiskFormat: "qcow2", ChecksumAlgo: "sha-256", ChecksumHash: "0123",
						MinDiskBytes: 1 << 30, MinRAMBytes: 512e6, SizeBytes: 300 << 20,
					}},
				}},
				ConnectionPoints: []vnfm.ConnectionPoint{
					{ID: "signal_cp0", Type: "tosca.nodes.nfv.VduCp", VDUID: "signal", External: true, Protocols: []string{"ipv4"}},
					{ID: "signal_cp1", Type: "tosca.nodes.nfv.VduCp", VDUID: "signal", VirtualLinkID: "internal", Order: 1, Protocols: []string{"ipv4", "ipv6"}},
				},
				VirtualLinks: []vnfm.VirtualLink{{ID: "internal", Protocols: []string{"ipv4"}, CIDR: "10.0.0.0/24", Subnets: []vnfm.Subnet{{CIDR: "10.0.0.0/24"}}}},
				Storages: []vnfm.Storage{
					{
						ID: "signal_disk", Type: "tosca.nodes.nfv.Vdu.VirtualBlockStorage", SizeBytes: 10e9, PerVNFC: true,
						SWImages: []vnfm.SWImage{{ID: "disk_image", Name: "disk", Version: "7", File: "../Files/images/disk.raw"}},
					},
					{ID: "shared_disk", Type: "tosca.nodes.nfv.Vdu.VirtualFileStorage", SizeBytes: 1e12},
				},
				Levels:         []vnfm.InstantiationLevel{{ID: "only", Description: "one", ScaleInfo: map[string]int{}, Counts: map[string]int{}}},
				DefaultLevelID: "only",
				Operations: map[string]vnfm.Implementation{
					"instantiate": {}, "heal": {}, "terminate_start": common, "scale_end": common,
					"instantiate_end": {
						Artifact: "small_hook", File: "../../Scripts/small.sh",
						Inputs: map[string]string{"retries": "3", "servers": `["a","on"]`},
					},
					"operate": {Artifact: "small_hook", File: "../../Scripts/small.sh"},
				},
			},
			{
				ID:   "large",
				VDUs: []vnfm.VDU{vdu("media"), vdu("signal")},
				Aspects: []vnfm.ScalingAspect{
					{
						ID: "media_aspect", Name: "media", Description: "media servers", MaxLevel: 3, StepDeltas: []string{"one", "two", "one"},
						Deltas: map[string]map[string]int{"one": {"media": 1}, "two": {"media": 2}},
					},
					{
						ID: "all_aspect", Name: "all", MaxLevel: 2, StepDeltas: []string{"each"},
						Deltas: map[string]map[string]int{"each": {"media": 2, "signal": 2}},
					},
				},
				Levels: []vnfm.InstantiationLevel{
					{ID: "low", Description: "smallest", ScaleInfo: map[string]int{}, Counts: map[string]int{"media": 1, "signal": 1}},
					{
						ID: "high", Description: "half", ScaleInfo: map[string]int{"media_aspect": 2, "all_aspect": 1},
						Counts: map[string]int{"media": 6, "signal": 3},
					},
				},
				DefaultLevelID: "low",
				Operations:     map[string]vnfm.Implementation{"instantiate": {}, "heal": {}, "terminate_start": common, "scale_end": common},
				AffinityRules: []vnfm.AffinityRule{
					{ID: "spread", Anti: true, Scope: "nfvi_node", Targets: []string{"both"}, Groups: map[string][]string{"both": {"media", "signal"}}},
					{ID: "together", Scope: "zone", Targets: []string{"media"}},
				},
				SecurityGroupRules: []vnfm.SecurityGroupRule{{ID: "security", Protocol: "tcp", PortMax: 65535}},
			},
		},
		PackageChanges: []vnfm.PackageChange{
			{
				SourceDescriptorIDs: []string{"sbc-1", "sbc-2"}, DestinationDescriptorID: "sbc-3",
				SourceFlavourIDs: []string{"small"}, DestinationFlavourID: "small",
				Mappings: edgeMappings(),
			},
			{
				SourceDescriptorIDs: []string{"sbc-3"}, DestinationDescriptorID: "sbc-2",
				SourceFlavourIDs: []string{"large"}, DestinationFlavourID: "small",
				Mappings: edgeMappings(),
			},
		},
	}
}

func edgeMappings() []vnfm.ComponentMapping {
	return []vnfm.ComponentMapping{
		{ComponentType: "vdu", SourceID: "media_old", DestinationID: "media"},
		{ComponentType: "scaling_aspect", SourceID: "media_aspect_old", DestinationID: "media_aspect"},
	}
}

// core is what testdata/single says.
func core() *vnfm.Descriptor {
	const unit = "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"
	ipv4 := []string{"ipv4"}
	return &vnfm.Descriptor{
		ID: "5f3a", Provider: "Example", ProductName: "Packet Core", SoftwareVersion: "1e3", Version: "1.0",
		VNFMInfo: []string{"1:vnfm"}, DefaultFlavourID: "default",
		Flavours: []vnfm.Flavour{{
			ID: "default", Description: "everything",
			VDUs: []vnfm.VDU{
				{
					ID: "amf", Name: "amf", Description: "access and mobility", Type: unit, MinInstances: 1, MaxInstances: 5,
					InitialDelta: ptr(1), CPUs: 1.75, MemoryBytes: 320 << 20, StorageIDs: []string{"state"},
					SWImages: []vnfm.SWImage{
						{
							ID: "image", Name: "amf", Version: "1.0", File: "registry.example.com/amf:1.0", ContainerFormat: "docker",
							ChecksumAlgo: "sha-512", ChecksumHash: "abcd", SizeBytes: 90e6,
						},
						{ID: "sw_image", File: "registry.example.com/proxy:2"},
					},
				},
				{ID: "db", Name: "db", Type: unit, MinInstances: 1, MaxInstances: 4},
			},
			ConnectionPoints: []vnfm.ConnectionPoint{
				{ID: "service", Type: "tosca.nodes.nfv.VirtualCp", VDUID: "amf", VirtualLinkID: "net", Protocols: ipv4},
				{ID: "vip", Type: "tosca.nodes.nfv.VipCp", VirtualLinkID: "net", Protocols: ipv4},
				{ID: "n2", Type: "tosca.nodes.nfv.VduCp", VDUID: "amf", VirtualLinkID: "net", Order: 2, Protocols: ipv4},
				{ID: "n2_external", Type: "tosca.nodes.nfv.VnfExtCp", VirtualLinkID: "net", External: true, Protocols: ipv4},
			},
			VirtualLinks: []vnfm.VirtualLink{{ID: "net", Protocols: ipv4}},
			Storages:     []vnfm.Storage{{ID: "state", Type: "tosca.nodes.nfv.Vdu.VirtualObjectStorage", SizeBytes: 5e9, PerVNFC: true}},
			Aspects: []vnfm.ScalingAspect{{
				ID: "amf_aspect", Name: "amf", Description: "more AMF", MaxLevel: 4, StepDeltas: []string{"d"},
				Deltas: map[string]map[string]int{"d": {"amf": 1}},
			}},
			Operations: map[string]vnfm.Implementation{
				"instantiate_start":      {Artifact: "registry", File: "registry", Type: "example.artifacts.Driver"},
				"change_current_package": {Artifact: "../Scripts/change.sh", File: "../Scripts/change.sh", Type: "example.Script"},
				"terminate":              {},
				"query":                  {},
			},
		}},
		PackageChanges: []vnfm.PackageChange{{
			SourceDescriptorIDs: []string{"5f39"}, DestinationDescriptorID: "5f3a", SourceFlavourIDs: []string{"default"},
		}},
	}
}

func TestReadVariations(t *testing.T) {
	const flavour = `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  substitution_mappings: { node_type: x.VNF, properties: { flavour_id: f } }
  node_templates:
    V: { type: x.Vdu, properties: { name: v, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 2 } } }
`
	const types = `tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  x.VNF:
    derived_from: tosca.nodes.nfv.VNF
    properties:
      descriptor_id: { default: from-type }
      provider: { default: p }
      product_name: { default: n }
      software_version: { default: '1' }
      descriptor_version: { default: '1' }
  x.Vdu: { derived_from: tosca.nodes.nfv.Vdu.Compute }
`
	const top = `tosca_definitions_version: tosca_simple_yaml_1_3
imports: %s
topology_template:
  node_templates:
    vnf: { type: x.VNF, properties: { flavour_id: { get_input: selected } } }
`
	tests := map[string]struct {
		entry   string
		files   map[string]string
		want    string
		flavour string
	}{
		"from the root of the package": {
			files: map[string]string{"Definitions/top.yaml": strings.Replace(top, "%s", "[Definitions/types.yaml, Definitions/f.yaml]", 1), "Definitions/types.yaml": types, "Definitions/f.yaml": flavour},
		},
		"absolute": {
			files: map[string]string{"Definitions/top.yaml": strings.Replace(top, "%s", "[/Definitions/types.yaml, /Definitions/f.yaml]", 1), "Definitions/types.yaml": types, "Definitions/f.yaml": flavour},
		},
		"map of names": {
			files: map[string]string{"Definitions/top.yaml": strings.Replace(top, "%s", "{ a: types.yaml, b: { file: f.yaml } }", 1), "Definitions/types.yaml": types, "Definitions/f.yaml": flavour},
		},
		"map with file": {
			files: map[string]string{
				"Definitions/top.yaml":   strings.Replace(top, "%s", "{ file: types.yaml }", 1),
				"Definitions/types.yaml": "imports: [ f.yaml ]\n" + types, "Definitions/f.yaml": flavour,
			},
		},
		"flavour beside, not imported": {
			files: map[string]string{
				"Definitions/top.yaml":   strings.Replace(top, "%s", "[types.yaml]", 1),
				"Definitions/types.yaml": types, "Definitions/f.yaml": flavour, "Definitions/other.yaml": "a: 1\n", "Definitions/bad.yaml": "{",
			},
			want: "warning Definitions/f.yaml:3:3: no import leads to the deployment flavour in Definitions/f.yaml; it was found beside Definitions/top.yaml\n",
		},
		"namespace prefix": {
			files: map[string]string{
				"Definitions/top.yaml": `tosca_definitions_version: tosca_simple_yaml_1_3
imports:
  - { file: types.yaml, namespace_prefix: t }
  - { file: other.yaml, namespace_prefix: o }
topology_template:
  node_templates:
    vnf: { type: t:x.VNF, properties: { flavour_id: f } }
    V: { type: t:x.Vdu, properties: { name: v, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 2 } } }
    W: { type: o:x.Vdu }
`,
				"Definitions/types.yaml": types,
				"Definitions/other.yaml": "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: { x.Vdu: { derived_from: tosca.nodes.Root } }\n",
			},
		},
		"policies at the top of the document": {
			files: map[string]string{
				"Definitions/top.yaml": strings.Replace(top, "%s", "[types.yaml, f.yaml]", 1), "Definitions/types.yaml": types,
				"Definitions/f.yaml": flavour + "policies: { i: { type: tosca.policies.nfv.VduInitialDelta, properties: { initial_delta: { number_of_instances: 1 } }, targets: [ V ] } }\n",
			},
			want: "warning Definitions/f.yaml:6:11: policies stands outside topology_template; it is read nevertheless\n",
		},
		"several documents and a byte order mark": {
			files: map[string]string{
				"Definitions/top.yaml": "\ufeff" + strings.ReplaceAll(strings.Replace(top, "%s", "[types.yaml, f.yaml]", 1), "\n", "\r\n") + "---\r\na: 1\r\n", "Definitions/types.yaml": types,
				"Definitions/f.yaml": flavour,
			},
			want: "warning Definitions/top.yaml:7:1: the file has more than one YAML document; only the first is read\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, text := range tt.files {
				fsys[file] = &fstest.MapFile{Data: []byte(text)}
			}
			d, problems := readVNFD(fsys, "Definitions/top.yaml")
			assert.Equal(t, tt.want, lines(problems), "problems")
			require.Equal(t, "from-type", d.ID)
			require.Len(t, d.Flavours, 1, "id")
			f := d.Flavours[0]
			if f.ID != "f" || d.DefaultFlavourID != "f" || len(f.VDUs) != 1 || f.VDUs[0].MaxInstances != 2 || f.VDUs[0].Name != "v" {
				t.Errorf("flavour %+v, default %q", f, d.DefaultFlavourID)
			}
		})
	}
}
