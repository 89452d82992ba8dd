package vnfd

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMciopDescribesItsVDUs: the chart of an Mciop says what its VDUs run.
func TestMciopDescribesItsVDUs(t *testing.T) {
	d, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(`tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF: { type: tosca.nodes.nfv.VNF, properties: { descriptor_id: d, descriptor_version: "1", provider: p, product_name: n, software_version: "1", flavour_id: f } }
    a: { type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit, properties: { name: a, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } }, requirements: [ container: c ] }
    b: { type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit, properties: { name: b, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } }, requirements: [ container: c ] }
    c: { type: tosca.nodes.nfv.Vdu.OsContainer, properties: { requested_cpu_resources: 500 } }
    m: { type: tosca.nodes.nfv.Mciop, requirements: [ associatedVdu: a ] }
`)}}, "v.yaml")
	require.False(t, problems.HasErrors(), lines(problems))
	f := &d.Flavours[0]
	require.Nil(t, f.VDU("a").Workload)
	assert.NotNil(t, f.VDU("b").Workload, "workloads of a and b")
	if f.VDU("a").CPUs != 0.5 || f.VDU("b").CPUs != 0.5 {
		t.Errorf("CPUs of a and b: %v, %v", f.VDU("a").CPUs, f.VDU("b").CPUs)
	}
}

// TestImages: which image a container runs, by what its artifact says.
func TestImages(t *testing.T) {
	for artifact, want := range map[string]string{
		`file: registry.example.com/web:1`:                                          "registry.example.com/web:1",
		`file: "docker://registry.example.com/web"`:                                 "registry.example.com/web",
		`file: ../Images/web.tar, properties: { name: example/web, version: 1.10 }`: "example/web:1.10",
		`file: Images/web, properties: { name: "example/web:2", version: 1.10 }`:    "example/web:2",
		`file: beside, properties: { name: "localhost:5000/web", version: 3 }`:      "localhost:5000/web:3",
		`file: elsewhere, properties: { name: example/web, version: 1 }`:            "elsewhere",
		`file: x.tgz, properties: { name: "a@sha256:0", version: 1 }`:               "a@sha256:0",
		`file: x.tgz`: "",
		`file: x.tgz, properties: { name: example/web }`: "example/web",
	} {
		d, problems := readVNFD(fstest.MapFS{
			"Images/web":         {},
			"Definitions/beside": {},
			"Definitions/v.yaml": {Data: fmt.Appendf(nil, `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF: { type: tosca.nodes.nfv.VNF, properties: { descriptor_id: d, descriptor_version: "1", provider: p, product_name: n, software_version: "1", flavour_id: f } }
    a: { type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit, properties: { name: a, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } }, requirements: [ container: c ] }
    c: { type: tosca.nodes.nfv.Vdu.OsContainer, artifacts: { image: { type: tosca.artifacts.nfv.SwImage, %s } } }
`, artifact)},
		}, "Definitions/v.yaml")
		require.False(t, problems.HasErrors(), lines(problems))
		assert.Equal(t, want, d.Flavours[0].VDU("a").Workload.Containers[0].Image, "%s: image", artifact)
	}
}
