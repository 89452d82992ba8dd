package vnfd

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestMCIOPs(t *testing.T) {
	const head = `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  substitution_mappings: { node_type: tosca.nodes.nfv.VNF, properties: { flavour_id: simple } }
  node_templates:
    vnf:
      type: tosca.nodes.nfv.VNF
      properties: { descriptor_id: d, provider: p, product_name: n, software_version: '1', descriptor_version: '1' }
    amf:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: amf, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 } }
    core:
      type: tosca.nodes.nfv.Mciop
`
	tests := map[string]struct {
		node     string
		want     []vnfm.MCIOP
		problems string
	}{
		"beside the definitions": {
			node: "      artifacts: { chart: { type: tosca.artifacts.nfv.HelmChart, file: ../Files/core.tgz } }\n      requirements: [ { associatedVdu: amf } ]\n",
			want: []vnfm.MCIOP{{ID: "core", File: "Files/core.tgz", VDUIDs: []string{"amf"}}},
		},
		"from the root": {
			node: "      artifacts: { chart: { type: tosca.artifacts.nfv.HelmChart, file: Files/chart } }\n",
			want: []vnfm.MCIOP{{ID: "core", File: "Files/chart"}},
		},
		"without a chart": {node: "      requirements: [ { associatedVdu: amf } ]\n"},
		"not there": {
			node:     "      artifacts: { chart: { type: tosca.artifacts.nfv.HelmChart, file: core.tgz } }\n",
			problems: "error Definitions/v.yaml:13:72: the Helm chart \"core.tgz\" of the Mciop core is not in the package\n",
		},
		"elsewhere": {
			node:     "      artifacts: { chart: { type: tosca.artifacts.nfv.HelmChart, file: 'oci://r/core' } }\n",
			problems: "error Definitions/v.yaml:13:72: the Helm chart \"oci://r/core\" of the Mciop core is not in the package; put the file into it\n",
		},
		"two charts": {
			node:     "      artifacts:\n        a: { type: tosca.artifacts.nfv.HelmChart, file: Files/chart }\n        b: { type: tosca.artifacts.nfv.HelmChart, file: Files/core.tgz }\n",
			want:     []vnfm.MCIOP{{ID: "core", File: "Files/chart"}},
			problems: "error Definitions/v.yaml:15:12: the Mciop core has a second Helm chart; it can have one\n",
		},
		"no VDU": {
			node:     "      artifacts: { chart: { type: tosca.artifacts.nfv.HelmChart, file: Files/chart } }\n      requirements: [ { associatedVdu: smf } ]\n",
			want:     []vnfm.MCIOP{{ID: "core", File: "Files/chart"}},
			problems: "error Definitions/v.yaml:14:40: the Mciop core is associated with \"smf\", which is not a VDU; the VDUs are \"amf\"\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, problems := readVNFD(fstest.MapFS{
				"Definitions/v.yaml":     {Data: []byte(head + tt.node)},
				"Files/core.tgz":         {},
				"Files/chart/Chart.yaml": {},
			}, "Definitions/v.yaml")
			assert.Equal(t, tt.problems, lines(problems), "problems")
			assert.Equal(t, tt.want, d.Flavours[0].MCIOPs, "MCIOPs")
		})
	}
}
