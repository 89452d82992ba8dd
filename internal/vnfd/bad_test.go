package vnfd

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goodVNFD is right; each bad case changes one place of it.
const goodVNFD = `tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ etsi_nfv_sol001_vnfd_types.yaml ]
topology_template:
  node_templates:
    vnf:
      type: tosca.nodes.nfv.VNF
      properties:
        descriptor_id: id
        descriptor_version: '1'
        provider: p
        product_name: n
        software_version: '1'
        flavour_id: simple
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: one
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }
      capabilities:
        virtual_compute: { properties: { virtual_memory: { virtual_mem_size: 1 GB }, virtual_cpu: { num_virtual_cpu: 1 } } }
      artifacts:
        image: { type: tosca.artifacts.nfv.SwImage, file: i:qcow2, properties: { min_ram: 1 GB } }
      requirements:
        - virtual_storage: disk
    VDU2:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: two
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }
    disk:
      type: tosca.nodes.nfv.Vdu.VirtualBlockStorage
      properties: { virtual_block_storage_data: { size_of_storage: 1 GB } }
    cp:
      type: tosca.nodes.nfv.VduCp
      properties: { layer_protocols: [ ipv4 ], order: 0 }
      requirements:
        - virtual_binding: VDU1
        - virtual_link: net
    net:
      type: tosca.nodes.nfv.VnfVirtualLink
  groups:
    both: { type: tosca.groups.nfv.PlacementGroup, members: [ VDU1, VDU2 ] }
  policies:
    - aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }
    - deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: { aspect: a1, deltas: { d1: { number_of_instances: 1 } } }
        targets: [ VDU1 ]
    - initial:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1 ]
    - levels:
        type: tosca.policies.nfv.InstantiationLevels
        properties:
          levels:
            l1: { description: one, scale_info: { a1: { scale_level: 0 } } }
            l2: { description: two, scale_info: { a1: { scale_level: 2 } } }
          default_level: l1
    - vdu1_levels:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties: { levels: { l1: { number_of_instances: 1 }, l2: { number_of_instances: 3 } } }
        targets: [ VDU1 ]
    - rule:
        type: tosca.policies.nfv.AffinityRule
        properties: { scope: zone }
        targets: [ both ]
`

func TestBad(t *testing.T) {
	etsi := "tosca_definitions_version: tosca_simple_yaml_1_3\n"
	d, problems := readVNFD(fstest.MapFS{
		"v.yaml":                          {Data: []byte(goodVNFD)},
		"etsi_nfv_sol001_vnfd_types.yaml": {Data: []byte(etsi)},
	}, "v.yaml")
	require.Empty(t, problems)
	require.Equal(t, "id", d.ID, "the good VNFD has problems:\n%s", lines(problems))
	for _, tt := range badVNFDs {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.new
			if tt.old != "" {
				require.NotZero(t, strings.Count(goodVNFD, tt.old), "the good VNFD has no %q", tt.old)
				text = strings.Replace(goodVNFD, tt.old, tt.new, 1)
			}
			fsys := fstest.MapFS{
				"v.yaml":                          {Data: []byte(text)},
				"etsi_nfv_sol001_vnfd_types.yaml": {Data: []byte(etsi)},
			}
			for file, content := range tt.files {
				fsys[file] = &fstest.MapFile{Data: []byte(content)}
			}
			_, problems := readVNFD(fsys, "v.yaml")
			assert.Equal(t, tt.want, lines(problems), "problems")
		})
	}
}

func TestBadEntry(t *testing.T) {
	tests := map[string]string{
		"none.yaml":  "error none.yaml: cannot read the entry definitions: open none.yaml: file does not exist\n",
		"../v.yaml":  "error ../v.yaml: cannot read the entry definitions: open ../v.yaml: file does not exist\n",
		"empty.yaml": "error empty.yaml: the file is empty\n",
	}
	for entry, want := range tests {
		_, problems := readVNFD(fstest.MapFS{"empty.yaml": {}}, entry)
		assert.Equal(t, want, lines(problems), "%s", entry)
	}
}
