package vnfd

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// legacy is a VNFD of the form that OpenStack Tacker had before SOL001.
const legacy = `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
metadata: { template_name: web, template_version: 1.10, template_author: Example }
topology_template:
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      properties:
        namespace: core
        mapping_ports: [ "80:8080" ]
        labels: { app: web }
        vnfcs:
          web: { num_cpus: 0.5, mem_size: 512 MB, image: nginx, ports: [ 8080 ], config: { a: b } }
          log: { image: fluentd }
    VDU2:
      type: tosca.nodes.nfv.VDU.Tacker
      properties: { vnfcs: { db: { image: mariadb, num_cpus: 1 } } }
    CP1:
      type: tosca.nodes.nfv.CP.Tacker
      properties: { management: true, order: 0 }
      requirements:
        - virtualLink: { node: VL1 }
        - virtualBinding: { node: VDU1 }
    VL1:
      type: tosca.nodes.nfv.VL
      properties: { network_name: net_mgmt, vendor: Tacker }
  policies:
    - steps: { type: tosca.policies.tacker.Scaling, targets: [ VDU1 ], properties: { increment: 2, min_instances: 1, max_instances: 8, default_instances: 4 } }
    - load: { type: tosca.policies.tacker.Scaling, targets: [ VDU2 ], properties: { min_instances: 1, max_instances: 3, default_instances: 2, target_cpu_utilization_percentage: 40 } }
`

func TestLegacy(t *testing.T) {
	d, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(legacy)}}, "v.yaml")
	assert.Empty(t, problems, "problems:\n%s", lines(problems))
	want := &vnfm.Descriptor{
		ID: "web", ProductName: "web", Provider: "Example", Version: "1.10", SoftwareVersion: "1.10", DefaultFlavourID: "default",
		Flavours: []vnfm.Flavour{{
			ID: "default",
			VDUs: []vnfm.VDU{
				{
					ID: "VDU1", Name: "VDU1", Type: "tosca.nodes.nfv.VDU.Tacker", MinInstances: 1, MaxInstances: 8, InitialDelta: ptr(2),
					CPUs: 0.5, MemoryBytes: 512e6,
					Workload: &vnfm.Workload{
						Namespace: "core", Labels: map[string]string{"app": "web"}, Networks: []string{"net_mgmt"},
						Services: []vnfm.Service{{Ports: []vnfm.Port{{Protocol: "TCP", Number: 80, Target: 8080}}}},
						Containers: []vnfm.Container{
							{
								ID: "web", Name: "web", Image: "nginx", Ports: []vnfm.Port{{Protocol: "TCP", Number: 8080}}, Config: map[string]string{"a": "b"},
								Resources: vnfm.Resources{CPURequest: 500, CPULimit: 500, MemoryRequest: 512e6, MemoryLimit: 512e6},
							},
							{ID: "log", Name: "log", Image: "fluentd"},
						},
					},
				},
				{
					ID: "VDU2", Name: "VDU2", Type: "tosca.nodes.nfv.VDU.Tacker", MinInstances: 1, MaxInstances: 3, InitialDelta: ptr(2), CPUs: 1,
					Workload: &vnfm.Workload{
						Containers:  []vnfm.Container{{ID: "db", Name: "db", Image: "mariadb", Resources: vnfm.Resources{CPURequest: 1000, CPULimit: 1000}}},
						Autoscaling: &vnfm.Autoscaling{Min: 1, Max: 3, CPUPercent: 40},
					},
				},
			},
			ConnectionPoints: []vnfm.ConnectionPoint{{ID: "CP1", Type: "tosca.nodes.nfv.CP.Tacker", VDUID: "VDU1", VirtualLinkID: "VL1"}},
			VirtualLinks:     []vnfm.VirtualLink{{ID: "VL1", NetworkName: "net_mgmt"}},
			Aspects: []vnfm.ScalingAspect{{
				ID: "steps", Name: "steps", MaxLevel: 3, StepDeltas: []string{"step"}, Deltas: map[string]map[string]int{"step": {"VDU1": 2}},
			}},
			Levels:         []vnfm.InstantiationLevel{{ID: "default", ScaleInfo: map[string]int{"steps": 1}, Counts: map[string]int{}}},
			DefaultLevelID: "default",
			Operations:     d.Flavours[0].Operations,
		}},
	}
	assert.Empty(t, cmp.Diff(want, d, cmpopts.IgnoreTypes(vnfm.Place{})), "descriptor")
	for scale, vdu1 := range map[int]int{0: 2, 1: 4, 3: 8} {
		counts, problems := Counts(&d.Flavours[0], "", map[string]int{"steps": scale})
		if diff := cmp.Diff(map[string]int{"VDU1": vdu1, "VDU2": 2}, counts); diff != "" || len(problems) > 0 {
			t.Errorf("counts at level %d (-want +got):\n%s%s", scale, diff, lines(problems))
		}
	}
	counts, _ := Counts(&d.Flavours[0], "", nil)
	assert.Equal(t, 4, counts["VDU1"], "at first VDU1 has")
}
