package hot

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestExample makes the stacks of the example package, whose three flavours are the
// three forms that there are.
func TestExample(t *testing.T) {
	content := os.DirFS("../../examples/packages/firewall")
	d, problems := vnfd.Read(budget.New(t.Context(), budget.Limits{}), content, "Definitions/firewall.yaml")
	require.False(t, problems.HasErrors(), lines(problems))
	p := &vnfm.Package{Descriptor: d, Content: content}
	for i := range d.Flavours {
		f := &d.Flavours[i]
		t.Run(f.ID, func(t *testing.T) {
			s := mustLoad(t, p, f)
			r := Request{
				Flavour: f, VNFCs: map[string][]int{"FW": {0, 1}, "TG": {0}}, Counts: map[string]int{"FW": 2, "TG": 1},
				Links: map[string]Link{"FW_CP1": {NetworkID: "net-1"}, "TG_CP1": {NetworkID: "net-2"}},
				Assets: map[DemandKey]Asset{
					{"FW", ""}: {FlavorID: "flavour-1", ImageID: "image-1"}, {"TG", ""}: {FlavorID: "flavour-2", ImageID: "image-1"},
				},
				Zone: func(p Place) string { return map[string]string{"TG": "nova"}[p.VDUID] },
			}
			stack := stackOf(t, s, r)
			golden(t, "firewall_"+f.ID, map[string]any{"template": stack.Template, "parameters": stack.Parameters})
			if s.Translated {
				for _, file := range sorted(stack.Files) {
					golden(t, "firewall_"+f.ID+"_"+file[:len(file)-len(".yaml")], s.nested[file].body)
				}
			}
			objects, ps := s.Objects(r)
			require.Empty(t, ps, "%s", lines(ps))
			golden(t, "firewall_"+f.ID+"_objects", map[string]any{"objects": sorted(objects), "demands": demandTexts(s, r)})
		})
	}
}

func demandTexts(s *Source, r Request) map[string]string {
	out := map[string]string{}
	for key, d := range s.Demands(r) {
		text := d.flavorText()
		if d.Image != nil {
			text += "; " + d.imageText()
		}
		out[key.VDUID+"/"+key.Storage] = text
	}
	return out
}

// translated reads a VNFD and translates its flavour.
func translated(t *testing.T, nodes, policies string, more fstest.MapFS) (*Source, *vnfm.Flavour, vnfm.Problems) {
	t.Helper()
	content := fstest.MapFS{"v.yaml": {Data: []byte(`tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF: { type: tosca.nodes.nfv.VNF, properties: { descriptor_id: d, descriptor_version: "1", provider: p, product_name: n, software_version: "1", flavour_id: f } }
` + nodes + "  policies:\n    - nothing: { type: tosca.policies.nfv.SupportedVnfInterface }\n" + policies)}}
	for name, file := range more {
		content[name] = file
	}
	d, problems := vnfd.Read(budget.New(t.Context(), budget.Limits{}), content, "v.yaml")
	require.False(t, problems.HasErrors(), lines(problems))
	s, ps := Load(budget.New(t.Context(), budget.Limits{}), &vnfm.Package{Descriptor: d, Content: content}, &d.Flavours[0])
	return s, &d.Flavours[0], ps
}

// rich is a server with all that is translated.
const rich = `    a:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: alpha, boot_order: [ system ], boot_data: Files/init.sh, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 4 } }
      capabilities:
        virtual_compute:
          properties:
            virtual_cpu: { num_virtual_cpu: 2, virtual_cpu_pinning: { virtual_cpu_pinning_policy: static } }
            virtual_memory: { virtual_mem_size: 4 GiB, numa_enabled: true, huge_pages_requirements: [ { hugepage_size: 2 MiB, requested_size: 4 GiB } ] }
            virtual_local_storage: [ { size_of_storage: 10 GiB } ]
      requirements: [ virtual_storage: data, virtual_storage: system, virtual_storage: common ]
    b:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: b, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }, sw_image_data: { name: tool, version: "2", min_disk: 5 GiB }, boot_data: { kvp_data: { data: { role: tool } } } }
      requirements: [ virtual_storage: common ]
    data: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 1500 MiB, vdu_storage_requirements: { volume_type: fast } } } }
    system: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 8 GiB }, sw_image_data: { name: alpha-system, version: "1" } } }
    common: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 1 GiB, vdu_storage_requirements: { volume_type: multiattach } }, per_vnfc_instance: false } }
    a2: { type: tosca.nodes.nfv.VduCp, properties: { layer_protocols: [ ipv4 ], order: 1, vnic_type: direct }, requirements: [ virtual_binding: a, virtual_link: net ] }
    a1: { type: tosca.nodes.nfv.VduCp, properties: { layer_protocols: [ ipv4 ], order: 0 }, requirements: [ virtual_binding: a ] }
    a3: { type: tosca.nodes.nfv.VduCp, properties: { layer_protocols: [ ipv4 ], order: 2 }, requirements: [ virtual_binding: a, virtual_link: known ] }
    net:
      type: tosca.nodes.nfv.VnfVirtualLink
      properties:
        vl_profile:
          virtual_link_protocol_data:
            - { l2_protocol_data: { mtu: 1400 }, l3_protocol_data: { ip_version: ipv4, cidr: 192.0.2.0/24, gateway_ip: 192.0.2.1, dhcp_enabled: false, ip_allocation_pools: [ { start_ip_address: 192.0.2.10, end_ip_address: 192.0.2.20 } ] } }
            - { l3_protocol_data: { ip_version: ipv6, cidr: "2001:db8::/64", ipv6_address_mode: slaac } }
    known: { type: tosca.nodes.nfv.VnfVirtualLink, properties: { network_name: operations } }
  groups: { both: { type: tosca.groups.nfv.PlacementGroup, members: [ a, b ] } }
`

const richPolicies = `    - together: { type: tosca.policies.nfv.AffinityRule, targets: [ both ], properties: { scope: nfvi_node } }
    - ping: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ a1, a2 ], properties: { protocol: ipv6_icmp, ether_type: ipv6 } }
    - high: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ a1 ], properties: { direction: egress, protocol: udp, port_range_max: 1024, description: low ports } }
`

// TestTranslation: the parts of a VNFD that a server, its disks and its network are made of.
func TestTranslation(t *testing.T) {
	s, f, ps := translated(t, rich, richPolicies, fstest.MapFS{"Files/init.sh": {Data: []byte("#!/bin/sh\necho alpha\n")}})
	require.Empty(t, ps, "%s", lines(ps))
	golden(t, "rich", s.Top)
	golden(t, "rich_a", s.nested["a.yaml"].body)
	golden(t, "rich_b", s.nested["b.yaml"].body)

	r := Request{
		Flavour: f, VNFCs: map[string][]int{"a": {1}, "b": {0}}, Counts: map[string]int{"a": 1, "b": 1},
		Links: map[string]Link{
			"a1": {NetworkID: "net-1", IPs: []vnfm.IPAddress{{SubnetID: "subnet-1", FixedAddresses: []string{"198.51.100.1", "198.51.100.2"}}, {SubnetID: "subnet-6", FixedAddresses: []string{"2001:db8::1", "2001:db8::2"}}}, MAC: "52:54:00:12:34:56"},
			"a3": {PortID: "port-1"},
		},
	}
	stack := stackOf(t, s, r)
	golden(t, "rich_parameters", stack.Parameters)
	golden(t, "rich_demands", demandTexts(s, r))

	r.VNFCs["a"], r.Counts["a"] = []int{0, 1}, 2
	_, ps = s.Stack(r)
	want := `v.yaml:5:5: a1 is given one MAC address, but its VDU a is to have 2 VNFCs
v.yaml:5:5: a3 is given one port, but its VDU a is to have 2 VNFCs
`
	assert.Equal(t, want, lines(ps), "problems")
}

// TestBadTranslations: what of a VNFD there is nothing for.
func TestBadTranslations(t *testing.T) {
	unit := func(properties, more string) string {
		return `    a: { type: tosca.nodes.nfv.Vdu.Compute, properties: { name: a, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }` + properties + ` }` + more + " }\n"
	}
	const image = `, sw_image_data: { name: tool, version: "2" }`
	for _, c := range []struct{ name, nodes, policies, want string }{
		{"nothing to boot from", unit("", ""), "",
			"v.yaml:5:5: the VDU a has nothing to boot from: neither it nor one of its storages has a software image\n"},
		{"containers", `    a: { type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit, properties: { name: a, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } } }` + "\n", "",
			"v.yaml:5:5: the VDU a consists of containers, which OpenStack cannot run; deploy the package on Kubernetes\n" +
				"v.yaml:5:5: the VDU a has nothing to boot from: neither it nor one of its storages has a software image\n"},
		{"a file that is not there", unit(image+", boot_data: { content_or_file_data: { source_path: Files/none.sh } }", ""), "",
			"v.yaml:5:197: the boot data of the VDU a are in Files/none.sh, which is not in the package\n"},
		{"a storage without size", unit(image, ", requirements: [ virtual_storage: s ]") + "    s: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage }\n", "",
			"v.yaml:6:5: the storage s has no size_of_storage\n"},
		{"another storage", unit(image, ", requirements: [ virtual_storage: s ]") + "    s: { type: tosca.nodes.nfv.Vdu.VirtualFileStorage }\n", "",
			"warning v.yaml:6:5: the storage s of the VDU a is a VirtualFileStorage, for which no volume is made\n"},
		{"a storage that is shared", unit(image, ", requirements: [ virtual_storage: s ]") + "    s: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 1 GB }, per_vnfc_instance: false } }\n", "",
			"warning v.yaml:6:5: the storage s is shared (per_vnfc_instance), and Cinder attaches a volume to several servers only if its type allows it; name one by volume_type in vdu_storage_requirements\n"},
		{"a network card that nobody knows", unit(image, "") + "    cp: { type: tosca.nodes.nfv.VduCp, properties: { layer_protocols: [ ipv4 ], vnic_type: magic }, requirements: [ virtual_binding: a ] }\n", "",
			"v.yaml:5:5: the connection point cp has the vnic_type \"magic\"; Neutron knows baremetal, direct, direct-physical, macvtap, normal, smart-nic, virtio, virtio-forwarder\n"},
		{"a demand that nobody knows", unit(image, ", capabilities: { virtual_compute: { properties: { compute_requirements: { colour: blue } } } }"), "",
			"warning v.yaml:5:5: the VDU a demands \"colour\", which OpenStack does not know; it must be an extra spec of a flavor, such as hw:mem_page_size\n"},
		{"a pinning policy that nobody knows", unit(image, ", capabilities: { virtual_compute: { properties: { virtual_cpu: { virtual_cpu_pinning: { virtual_cpu_pinning_policy: maybe } } } } }"), "",
			"v.yaml:5:303: node_templates.a.capabilities.virtual_compute.properties.virtual_cpu.virtual_cpu_pinning.virtual_cpu_pinning_policy must be static or dynamic, not \"maybe\"\n"},
		{"rules that cannot be kept", unit(image, ""), `    - zone: { type: tosca.policies.nfv.AntiAffinityRule, targets: [ a ], properties: { scope: zone } }
    - one: { type: tosca.policies.nfv.AntiAffinityRule, targets: [ a ], properties: { scope: nfvi_node } }
    - two: { type: tosca.policies.nfv.AffinityRule, targets: [ a ], properties: { scope: nfvi_node } }
`, "warning v.yaml:8:7: the policy zone has the scope \"zone\", which OpenStack does not support; it can only place servers by their host (nfvi_node)\n" +
			"warning v.yaml:10:7: the policy two has no effect on the VDU a, which is in the server group one already\n"},
		{"a rule for what is no port", unit(image, "") + "    out: { type: tosca.nodes.nfv.VnfExtCp, properties: { layer_protocols: [ ipv4 ] } }\n",
			"    - web: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ out ] }\n",
			"warning v.yaml:9:7: the policy web targets out, which is not a connection point of a VDU; it has no effect there\n"},
		{"one name twice", unit(image, ""), "    - a: { type: tosca.policies.nfv.SecurityGroupRule }\n",
			"v.yaml:5:5: a is the name of two resources of the stack; give one of the nodes and policies of the VNFD another name\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, ps := translated(t, c.nodes, c.policies, nil)
			assert.Equal(t, c.want, lines(ps), "problems")
		})
	}
}
