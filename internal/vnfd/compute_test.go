package vnfd

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// server is a VNFD with one VDU, of which the properties, those of virtual_compute, the
// other nodes and the policies are given.
func server(properties, compute, nodes, policies string) fstest.MapFS {
	return fstest.MapFS{"v.yaml": {Data: fmt.Appendf(nil, `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF: { type: tosca.nodes.nfv.VNF, properties: { descriptor_id: d, descriptor_version: "1", provider: p, product_name: n, software_version: "1", flavour_id: f } }
    a:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: a, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }%s }
      capabilities: { virtual_compute: { properties: { %s } } }
      requirements: [ virtual_storage: s1, virtual_storage: s2 ]
    s1: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 1 GB } } }
    s2: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 1 GB } } }
%s
  policies:
    - none: { type: tosca.policies.nfv.AffinityRule, targets: [ a ], properties: { scope: nfvi_node } }
%s
`, properties, compute, nodes, policies)}}
}

// TestCompute: what a VNFD says of a server, in the forms that it has in use.
func TestCompute(t *testing.T) {
	for name, c := range map[string]struct {
		properties, compute string
		want                *vnfm.Compute
	}{
		"nothing": {"", "virtual_cpu: { num_virtual_cpu: 2 }", nil},
		"flavour as Tacker has it": {"", `requested_additional_capabilities: { properties: { requested_additional_capability_name: m1.tiny, support_mandatory: true, target_performance_parameters: { entry_schema: test } } }`,
			&vnfm.Compute{FlavorName: "m1.tiny"}},
		"flavour under another name": {"", `requested_additional_capabilities: { size: { requested_additional_capability_name: m1.tiny, support_mandatory: true } }`,
			&vnfm.Compute{FlavorName: "m1.tiny"}},
		"capability with parameters": {"", `requested_additional_capabilities: { pages: { requested_additional_capability_name: hugepages, support_mandatory: true, target_performance_parameters: { mem_page_size: 1GB } } }`,
			&vnfm.Compute{Requirements: map[string]string{"mem_page_size": "1GB"}}},
		"processor and memory": {"", `virtual_cpu: { num_virtual_cpu: 2, vdu_cpu_requirements: { "hw:cpu_sockets": 1 }, virtual_cpu_pinning: { virtual_cpu_pinning_policy: static } },
        virtual_memory: { virtual_mem_size: 4 GB, numa_enabled: true, vdu_mem_requirements: { mem_page_size: large }, huge_pages_requirements: [ { hugepage_size: 2 MiB, requested_size: 4 GiB } ] },
        logical_node: { io: { logical_node_requirements: { "hw:pci_numa_affinity_policy": required } } }`,
			&vnfm.Compute{PinnedCPUs: true, NUMA: true, HugePages: []vnfm.HugePages{{PageSize: 2 << 20, Size: 4 << 30}}, Requirements: map[string]string{
				"hw:cpu_sockets": "1", "mem_page_size": "large", "hw:pci_numa_affinity_policy": "required",
			}}},
		"dynamic pinning":     {"", "virtual_cpu: { virtual_cpu_pinning: { cpu_pinning_policy: dynamic } }", nil},
		"disks":               {"", "virtual_local_storage: [ { size_of_storage: 1 GB }, { size_of_storage: 2 GB } ]", &vnfm.Compute{DiskBytes: 3e9}},
		"boot order":          {", boot_order: [ s2 ]", "", &vnfm.Compute{BootOrder: []string{"s2"}}},
		"boot order as given": {", boot_order: true", "", &vnfm.Compute{BootOrder: []string{"s1", "s2"}}},
		"no boot order":       {", boot_order: false", "", nil},
		"boot data":           {", boot_data: '#cloud-config'", "", &vnfm.Compute{BootData: &vnfm.BootData{Content: "#cloud-config"}}},
		"boot data of v3": {", boot_data: { content_or_file_data: { source_path: Files/init.sh, data: { a: b } } }", "",
			&vnfm.Compute{BootData: &vnfm.BootData{File: "Files/init.sh", Values: map[string]string{"a": "b"}}}},
		"keys and values": {", boot_data: { kvp_data: { data: { a: 1 } } }", "", &vnfm.Compute{BootData: &vnfm.BootData{Values: map[string]string{"a": "1"}}}},
		"wrong, which only its user minds": {"", "virtual_cpu: { virtual_cpu_pinning: { virtual_cpu_pinning_policy: maybe } }", &vnfm.Compute{Problems: vnfm.Problems{
			{File: "v.yaml", Line: 8, Column: 122, Summary: `node_templates.a.capabilities.virtual_compute.properties.virtual_cpu.virtual_cpu_pinning.virtual_cpu_pinning_policy must be static or dynamic, not "maybe"`},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			d, problems := readVNFD(server(c.properties, c.compute, "", ""), "v.yaml")
			require.Empty(t, problems, "%s", lines(problems))
			assert.Empty(t, cmp.Diff(c.want, d.Flavours[0].VDU("a").Compute, cmpopts.IgnoreTypes(vnfm.Place{})))
		})
	}
}

// TestNetworks: what a VNFD says of networks, ports and what may pass them.
func TestNetworks(t *testing.T) {
	d, problems := readVNFD(server("", "", `    cp: { type: tosca.nodes.nfv.VduCp, properties: { layer_protocols: [ ipv4 ], vnic_type: direct }, requirements: [ virtual_binding: a, virtual_link: net ] }
    net:
      type: tosca.nodes.nfv.VnfVirtualLink
      properties:
        connectivity_type: { layer_protocols: [ ipv4 ] }
        vl_profile:
          virtual_link_protocol_data:
            - l2_protocol_data: { mtu: 1400 }
              l3_protocol_data: { name: four, ip_version: ipv4, cidr: 192.0.2.0/24, gateway_ip: 192.0.2.1, dhcp_enabled: no, ip_allocation_pools: [ { start_ip_address: 192.0.2.10, end_ip_address: 192.0.2.20 } ] }
            - l3_protocol_data: { ip_version: ipv6, cidr: "2001:db8::/64", ipv6_address_mode: slaac }`,
		`    - web: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ cp, both ], properties: { description: d, protocol: TCP, port_range_min: 80, port_range_max: 81 } }
    - out: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ cp ], properties: { direction: egress, ether_type: ipv6, protocol: icmp } }
    - bad: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ cp ], properties: { direction: sideways, port_range_min: 2, port_range_max: 1 } }
    - far: { type: tosca.policies.nfv.SecurityGroupRule, targets: [ cp ], properties: { port_range_max: 70000 } }`), "v.yaml")
	want := `warning v.yaml:24:73: the policy web targets "both", which is not a connection point of the flavour
error v.yaml:26:100: policies.bad.properties.direction must be ingress or egress, not "sideways"
error v.yaml:26:126: the policy bad has ports from 2 (port_range_min) to 1 (port_range_max)
error v.yaml:27:105: policies.far.properties.port_range_max is 70000; the last port is 65535
`
	assert.Equal(t, want, lines(problems), "problems")
	f, off := d.Flavours[0], false
	assert.Equal(t, "direct", f.ConnectionPoints[0].VNICType, "vnic_type")
	assert.Equal(t, []vnfm.VirtualLink{{ID: "net", Protocols: []string{"ipv4"}, CIDR: "192.0.2.0/24", MTU: 1400, Subnets: []vnfm.Subnet{
		{Name: "four", CIDR: "192.0.2.0/24", Gateway: "192.0.2.1", DHCP: &off, Pools: []vnfm.AddressRange{{Start: "192.0.2.10", End: "192.0.2.20"}}},
		{CIDR: "2001:db8::/64", IPv6: true, IPv6Mode: "slaac"},
	}}}, f.VirtualLinks)
	diff := cmp.Diff([]vnfm.SecurityGroupRule{
		{ID: "web", Description: "d", Protocol: "tcp", PortMin: 80, PortMax: 81, Targets: []string{"cp"}},
		{ID: "out", Egress: true, IPv6: true, Protocol: "icmp", PortMax: 65535, Targets: []string{"cp"}},
	}, f.SecurityGroupRules[:2], cmpopts.IgnoreTypes(vnfm.Place{}))
	assert.Empty(t, diff)
}
