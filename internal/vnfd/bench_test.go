package vnfd

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// bigVNFD has n VDUs, each with storage, connection point and scaling aspect.
func bigVNFD(n int) string {
	var nodes, aspects, policies, levels strings.Builder
	for i := range n {
		fmt.Fprintf(&nodes, `    VDU%[1]d:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: vdu-%[1]d
        description: one of many
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 9 }
      capabilities:
        virtual_compute: { properties: { virtual_memory: { virtual_mem_size: 4 GiB }, virtual_cpu: { num_virtual_cpu: 2 } } }
      artifacts:
        sw_image: { type: tosca.artifacts.nfv.SwImage, file: registry.example.com/vdu-%[1]d, properties: { name: vdu-%[1]d, version: 1.0, size: 90 MB } }
      requirements:
        - virtual_storage: disk%[1]d
    disk%[1]d:
      type: tosca.nodes.nfv.Vdu.VirtualBlockStorage
      properties: { virtual_block_storage_data: { size_of_storage: 10 GB } }
    cp%[1]d:
      type: tosca.nodes.nfv.VduCp
      properties: { layer_protocols: [ ipv4 ], order: 0 }
      requirements:
        - virtual_binding: VDU%[1]d
        - virtual_link: net
`, i)
		fmt.Fprintf(&aspects, "            aspect%[1]d: { name: a, max_scale_level: 4, step_deltas: [ d ] }\n", i)
		fmt.Fprintf(&policies, `    - deltas%[1]d:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: { aspect: aspect%[1]d, deltas: { d: { number_of_instances: 2 } } }
        targets: [ VDU%[1]d ]
    - initial%[1]d:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 1 } }
        targets: [ VDU%[1]d ]
    - level%[1]d:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties: { levels: { low: { number_of_instances: 1 }, high: { number_of_instances: 5 } } }
        targets: [ VDU%[1]d ]
`, i)
		fmt.Fprintf(&levels, "                aspect%d: { scale_level: 2 }\n", i)
	}
	head, _, _ := strings.Cut(goodVNFD, "    VDU1:\n")
	head = strings.Replace(head, "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]\n", "", 1)
	return head + nodes.String() + `    net:
      type: tosca.nodes.nfv.VnfVirtualLink
  policies:
    - aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
` + aspects.String() + policies.String() + `    - levels:
        type: tosca.policies.nfv.InstantiationLevels
        properties:
          levels:
            low: { description: low }
            high:
              description: high
              scale_info:
` + levels.String() + "          default_level: low\n"
}

func TestBigVNFD(t *testing.T) {
	d, problems := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(bigVNFD(60))}}, "v.yaml")
	if len(problems) > 0 || len(d.Flavours) != 1 || len(d.Flavours[0].VDUs) != 60 || len(d.Flavours[0].Aspects) != 60 {
		t.Fatalf("problems:\n%s", lines(problems))
	}
	counts, problems := Counts(&d.Flavours[0], "high", map[string]int{"aspect7": 4})
	if len(problems) > 0 || counts["VDU7"] != 9 || counts["VDU8"] != 5 {
		t.Errorf("counts %v, problems %v", counts, problems)
	}
}

func BenchmarkRead(b *testing.B) {
	text := []byte(bigVNFD(60))
	fsys := fstest.MapFS{"v.yaml": {Data: text}}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := readVNFD(fsys, "v.yaml"); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkCounts(b *testing.B) {
	d, _ := readVNFD(fstest.MapFS{"v.yaml": {Data: []byte(bigVNFD(60))}}, "v.yaml")
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := Counts(&d.Flavours[0], "high", nil); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
