package hot

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// copied is a BaseHOT in the style of Tacker's Standard class: VDU1 by a nested
// template, VDU2 with its port and its volume beside it.
const copied = `-- simple/top.yaml --
heat_template_version: 2021-04-16
parameters:
  nfv: { type: json }
  key: { type: string, default: none }
  secret: { type: string, hidden: true, default: "" }
resources:
  VDU1:
    type: VDU1.yaml
    depends_on: [ inner, inner_subnet ]
    properties:
      flavor: { get_param: [nfv, VDU, VDU1, computeFlavourId] }
      image: { get_param: [nfv, VDU, VDU1, vcImageId] }
      zone: { get_param: [nfv, VDU, VDU1, locationConstraints] }
      net: { get_param: [nfv, CP, CP1, network] }
      address: { get_param: [nfv, CP, CP1, fixed_ips, 0, ip_address] }
      subnet: { get_param: [nfv, CP, CP1, fixed_ips, 0, subnet] }
      inner: { get_resource: inner }
  VDU2:
    type: OS::Nova::Server
    depends_on: VDU1
    properties:
      flavor: { get_param: [nfv, VDU, VDU2, computeFlavourId] }
      key_name: { get_param: key }
      networks: [ { port: { get_resource: CP2 } } ]
      block_device_mapping_v2: [ { volume_id: { get_resource: disk }, boot_index: 0 } ]
      metadata: { peers: [ { get_resource: VDU1 }, other ] }
  CP2: { type: OS::Neutron::Port, properties: { network: { get_resource: inner } } }
  disk: { type: OS::Cinder::Volume, properties: { size: 1, image: { get_param: [nfv, VDU, disk, vcImageId] } } }
  floating: { type: OS::Neutron::FloatingIP, properties: { port_id: { get_resource: CP2 } } }
  inner: { type: OS::Neutron::Net }
  inner_subnet: { type: OS::Neutron::Subnet, properties: { network: { get_resource: inner }, cidr: 192.0.2.0/24 } }
outputs:
  front: { value: { get_attr: [VDU1, address] } }
  inside: { value: { get_resource: inner } }
-- simple/nested/VDU1.yaml --
heat_template_version: 2021-04-16
parameters:
  flavor: { type: string }
  image: { type: string }
  zone: { type: string }
  net: { type: string }
  address: { type: string }
  subnet: { type: string }
  inner: { type: string }
resources:
  VDU1: { type: OS::Nova::Server, properties: { flavor: { get_param: flavor }, image: { get_param: image } } }
`

// request is one for the flavour of router.
func request() Request {
	return Request{
		DigestKey: []byte("key"),
		Flavour:   router(),
		VNFCs:     map[string][]int{"VDU1": {0, 2}, "VDU2": {0}},
		Counts:    map[string]int{"VDU1": 2, "VDU2": 1},
		Links:     map[string]Link{"CP1": {NetworkID: "net-1", IPs: []vnfm.IPAddress{{SubnetID: "subnet-1", FixedAddresses: []string{"198.51.100.1", "198.51.100.2", "198.51.100.3"}}}}},
		Assets: map[DemandKey]Asset{
			{"VDU1", ""}:     {FlavorID: "flavour-1", ImageID: "image-1"},
			{"VDU2", ""}:     {FlavorID: "flavour-2"},
			{"VDU2", "disk"}: {ImageID: "image-2"},
		},
		Zone: func(Place) string { return "east" },
	}
}

func stackOf(t *testing.T, s *Source, r Request) *Stack {
	t.Helper()
	stack, ps := s.Stack(r)
	require.Empty(t, ps, "%s", lines(ps))
	return stack
}

// TestCopied: the stack of a BaseHOT whose VDUs are copied.
func TestCopied(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	golden(t, "copied", stackOf(t, s, request()))

	managed := request()
	managed.Links["inner"] = Link{NetworkID: "net-2"}
	golden(t, "copied_managed", stackOf(t, s, managed).Template)

	none := request()
	none.VNFCs, none.Counts = map[string][]int{"VDU2": {0}}, map[string]int{"VDU2": 1}
	resources := mapOf(stackOf(t, s, none).Template["resources"])
	assert.Equal(t, []string{"CP2-0", "VDU2-0", "disk-0", "floating-0", "inner", "inner_subnet"}, sorted(resources))
}

// TestInTurn: each VNFC of a copied VDU waits for the one before, and for nothing else.
func TestInTurn(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	r := request()
	r.VNFCs["VDU1"], r.Counts["VDU1"] = []int{0, 1, 2}, 3
	before := mapOf(stackOf(t, s, r).Template["resources"])
	r.InTurn = true
	after := mapOf(stackOf(t, s, r).Template["resources"])
	waits := func(name string) []string { return dependsOn(mapOf(before[name])) }
	for name, want := range map[string][]string{
		"VDU1-0": waits("VDU1-0"),
		"VDU1-1": append(waits("VDU1-1"), "VDU1-0"),
		"VDU1-2": append(waits("VDU1-2"), "VDU1-1"),
		"VDU2-0": waits("VDU2-0"),
		"disk-0": waits("disk-0"),
	} {
		got := dependsOn(mapOf(after[name]))
		assert.True(t, slices.Equal(got, want), "%s waits for %v, want %v", name, got, want)
	}
}

// TestOffline: without assets, what stands in their place says what is asked for.
func TestOffline(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	r := request()
	r.Assets = nil
	vdus := mapOf(mapOf(stackOf(t, s, r).Parameters[nfv])["VDU"])
	want := map[string]any{
		"VDU1-0": map[string]any{"computeFlavourId": "a flavor, 2 vCPU, 1024 MiB of memory", "vcImageId": "image cirros", "locationConstraints": ""},
		"VDU1-2": map[string]any{"computeFlavourId": "a flavor, 2 vCPU, 1024 MiB of memory", "vcImageId": "image cirros", "locationConstraints": ""},
		"VDU2-0": map[string]any{"computeFlavourId": "a flavor, 1 vCPU"},
		"disk-0": map[string]any{"vcImageId": "image system, version 1"},
	}
	assert.Equal(t, want, vdus)
}

// TestDemands: what the VIM is asked for is what the template asks for and the request
// does not give.
func TestDemands(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	r := request()
	cirros, system := &r.Flavour.VDUs[0].SWImages[0], &r.Flavour.Storages[0].SWImages[0]
	want := map[DemandKey]Demand{
		{"VDU1", ""}:     {VDUID: "VDU1", CPUs: 2, MemoryBytes: 1 << 30, Image: cirros},
		{"VDU2", ""}:     {VDUID: "VDU2", CPUs: 1},
		{"VDU2", "disk"}: {VDUID: "VDU2", Storage: "disk", Image: system},
	}
	assert.Equal(t, want, s.Demands(r))
	r.NFV = map[string]any{"VDU": map[string]any{
		"VDU1": map[string]any{"computeFlavourId": "mine"}, "VDU2": map[string]any{"computeFlavourId": "mine"}, "disk-0": map[string]any{"vcImageId": "mine"},
	}}
	delete(want, DemandKey{"VDU2", ""})
	want[DemandKey{"VDU1", ""}] = Demand{VDUID: "VDU1", Image: cirros}
	assert.Equal(t, want, s.Demands(r))
}

// TestOverrides: what the user gives is laid over what is computed, for all VNFCs of a
// VDU under its name, for one under that with the number.
func TestOverrides(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	r := request()
	r.NFV = map[string]any{
		"VDU": map[string]any{
			"VDU1":   map[string]any{"computeFlavourId": "all", "locationConstraints": "west"},
			"VDU1-2": map[string]any{"computeFlavourId": "third"},
		},
		"CP": map[string]any{"CP1-0": map[string]any{"fixed_ips": []any{map[string]any{"ip_address": "198.51.100.9", "subnet": "other"}}}},
	}
	r.Parameters = map[string]any{"key": "mine"}
	got := stackOf(t, s, r).Parameters
	want := map[string]any{
		"key": "mine",
		nfv: map[string]any{
			"VDU": map[string]any{
				"VDU1-0": map[string]any{"computeFlavourId": "all", "vcImageId": "image-1", "locationConstraints": "west"},
				"VDU1-2": map[string]any{"computeFlavourId": "third", "vcImageId": "image-1", "locationConstraints": "west"},
				"VDU2-0": map[string]any{"computeFlavourId": "flavour-2"},
				"disk-0": map[string]any{"vcImageId": "image-2"},
			},
			"CP": map[string]any{
				"CP1-0": map[string]any{"network": "net-1", "fixed_ips": []any{map[string]any{"ip_address": "198.51.100.9", "subnet": "other"}}},
				"CP1-2": map[string]any{"network": "net-1", "fixed_ips": []any{map[string]any{"ip_address": "198.51.100.3", "subnet": "subnet-1"}}},
			},
		},
	}
	assert.Equal(t, want, got)
}

// grouped is a BaseHOT in the style of Tacker's Default class.
const grouped = `-- simple/top.yaml --
heat_template_version: 2013-05-23
parameters: { nfv: { type: json } }
resources:
  VDU1_group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      desired_capacity: { get_param: [nfv, VDU, VDU1, desired_capacity] }
      resource:
        type: VDU1.yaml
        properties: { flavor: { get_param: [nfv, VDU, VDU1, computeFlavourId] }, net: { get_param: [nfv, CP, CP1, network] } }
  VDU2:
    type: OS::Heat::ResourceGroup
    properties: { count: 1, resource_def: { type: OS::Nova::Server, properties: { flavor: { get_param: [nfv, VDU, VDU2, flavor] } } } }
-- simple/nested/VDU1.yaml --
heat_template_version: 2013-05-23
parameters: { flavor: { type: string }, net: { type: string } }
resources: { VDU1: { type: OS::Nova::Server, properties: { flavor: { get_param: flavor } } } }
`

// TestGrouped: the size of a group is the number of VNFCs, however its template gives it.
func TestGrouped(t *testing.T) {
	s := mustLoad(t, files(grouped), router())
	r := request()
	r.VNFCs, r.Counts["VDU2"] = nil, 2
	golden(t, "grouped", stackOf(t, s, r))
}

// TestBadRequests: what a request lacks, and what it has too much of.
func TestBadRequests(t *testing.T) {
	const top = "BaseHOT/simple/top.yaml"
	for _, c := range []struct {
		name, files string
		change      func(*Request)
		want        string
	}{
		{"no network", copied, func(r *Request) { r.Links = nil },
			top + ":15:7: the template asks for nfv.CP.CP1.fixed_ips.0.ip_address, which is not given: Give CP1 a fixed address in ip_addresses of its external virtual link. Or set additional_params.nfv.CP.CP1.fixed_ips.0.ip_address.\n" +
				top + ":16:7: the template asks for nfv.CP.CP1.fixed_ips.0.subnet, which is not given: Give CP1 a subnet in ip_addresses of its external virtual link. Or set additional_params.nfv.CP.CP1.fixed_ips.0.subnet.\n" +
				top + ":14:7: the template asks for nfv.CP.CP1.network, which is not given: Connect CP1 by an external virtual link (ext_virtual_links). Or set additional_params.nfv.CP.CP1.network.\n"},
		{"no network of one inside", copied, func(r *Request) {
			r.Links = nil
			r.Flavour.ConnectionPoints[0] = vnfm.ConnectionPoint{ID: "CP1", VDUID: "VDU1", VirtualLinkID: "inner"}
		},
			top + ":15:7: the template asks for nfv.CP.CP1.fixed_ips.0.ip_address, which is not given: Set additional_params.nfv.CP.CP1.fixed_ips.0.ip_address.\n" +
				top + ":16:7: the template asks for nfv.CP.CP1.fixed_ips.0.subnet, which is not given: Set additional_params.nfv.CP.CP1.fixed_ips.0.subnet.\n" +
				top + ":14:7: the template asks for nfv.CP.CP1.network, which is not given: Give the virtual link inner of CP1 a network by ext_managed_virtual_links. Or set additional_params.nfv.CP.CP1.network.\n"},
		{"no network, and no link", copied, func(r *Request) {
			r.Links = map[string]Link{"CP1": {IPs: []vnfm.IPAddress{{SubnetID: "s", FixedAddresses: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}}}}}
			r.Flavour.ConnectionPoints = nil
		},
			top + ":14:7: the template asks for nfv.CP.CP1.network, which is not given: Set additional_params.nfv.CP.CP1.network.\n"},
		{"no asset", copied, func(r *Request) { delete(r.Assets, DemandKey{"VDU2", ""}) },
			top + ":22:7: the template asks for nfv.VDU.VDU2.computeFlavourId, which is not given: Set additional_params.nfv.VDU.VDU2.computeFlavourId.\n"},
		{"no image", copied, func(r *Request) { r.Flavour.VDUs[0].SWImages = nil },
			top + ":12:7: the template asks for nfv.VDU.VDU1.vcImageId, which is not given: The VNFD gives VDU1 no software image. Or set additional_params.nfv.VDU.VDU1.vcImageId.\n"},
		{"an address too few", copied, func(r *Request) {
			r.Links = map[string]Link{"CP1": {NetworkID: "n", IPs: []vnfm.IPAddress{{SubnetID: "s", FixedAddresses: []string{"198.51.100.1", "198.51.100.2"}}}}}
		}, top + ":15:7: CP1 has 2 fixed addresses (ip_addresses[0]), but the VNFC VDU1-2 has none of them\n"},
		{"an address too few of another family", strings.Replace(copied, "fixed_ips, 0, ip_address", "fixed_ips, 1, ip_address", 1), func(r *Request) {
			link := r.Links["CP1"]
			link.IPs = append(link.IPs, vnfm.IPAddress{FixedAddresses: []string{"2001:db8::1"}})
			r.Links["CP1"] = link
		}, top + ":15:7: CP1 has 1 fixed addresses (ip_addresses[1]), but the VNFC VDU1-2 has none of them\n"},
		{"no address of another family", strings.Replace(copied, "fixed_ips, 0, ip_address", "fixed_ips, 1, ip_address", 1), func(*Request) {},
			top + ":15:7: the template asks for nfv.CP.CP1.fixed_ips.1.ip_address, which is not given: Give CP1 2 entries in ip_addresses of its external virtual link. Or set additional_params.nfv.CP.CP1.fixed_ips.1.ip_address.\n"},
		{"a misspelt leaf", copied, func(r *Request) {
			r.NFV = map[string]any{"VDU": map[string]any{"VDU1-7": map[string]any{"computeFlavorId": "a", "vcImageId": "b"}}, "CP": map[string]any{"CP9": "x"}}
		}, "warning the template " + top + " does not ask for nfv.CP.CP9: The value has no effect.\n" +
			"warning the template " + top + " does not ask for nfv.VDU.VDU1-7.computeFlavorId: The value has no effect.\n"},
		{"a network that nobody asks for", copied, func(r *Request) { r.Links["CP7"] = Link{NetworkID: "n"} },
			"warning the template " + top + " has no place for the network of CP7: It asks for networks by { get_param: [nfv, CP, <connection point>, network] }, or has a resource by the name of the virtual link.\n"},
		{"a required parameter", "-- simple/top.yaml --\nheat_template_version: wallaby\nparameters: { key: { type: string } }\nresources: { VDU1: { type: OS::Nova::Server }, VDU2: { type: OS::Nova::Server } }\n",
			func(r *Request) { r.NFV, r.Links = map[string]any{"VDU": map[string]any{}}, nil },
			top + ":2:15: the template has the parameter \"key\", which has no default and is not given: Set additional_params.key.\n" +
				"the template " + top + " has no parameter nfv: declare it with type json, or remove additional_params.nfv\n"},
		{"a group too small", grouped, func(r *Request) { r.Counts["VDU1"] = 4 },
			top + ":4:3: the VDU VDU1 is to have 4 VNFCs, but its group VDU1_group has 3 at most (max_size): set a lower scale level, or raise max_size in the template\n"},
		{"a group too large", grouped, func(r *Request) { r.Counts["VDU1"] = 0 },
			top + ":4:3: the VDU VDU1 is to have 0 VNFCs, but its group VDU1_group has 1 at least (min_size): set a higher scale level, or lower min_size in the template\n"},
		{"a size that is given", grouped, func(r *Request) {
			r.NFV = map[string]any{"VDU": map[string]any{"VDU1": map[string]any{"desired_capacity": 2}}}
		}, "nfv.VDU.VDU1.desired_capacity is given, but the scale levels determine it: Set scale_levels or the instantiation level.\n"},
		{"a managed link without its subnet", strings.Replace(copied, "Port, properties: {", "Port, properties: { fixed_ips: [ { subnet: { get_resource: inner_subnet } } ],", 1), func(r *Request) {
			r.Links["inner"] = Link{NetworkID: "n"}
		}, top + ":27:3: the template refers to inner_subnet, which a network of the VIM replaces; no subnet of that network is given: give a network that has a subnet, or remove the reference\n"},
		{"an attribute of a managed link", strings.Replace(copied, "network: { get_resource: inner } } }\n  disk", "network: { get_attr: [inner, show] } } }\n  disk", 1), func(r *Request) {
			r.Links["inner"] = Link{NetworkID: "n"}
		}, top + ":27:3: the template reads an attribute of inner, which a network of the VIM replaces: read it from a resource that stays, or make the virtual link instead of giving it\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustLoad(t, files(c.files), router())
			r := request()
			c.change(&r)
			_, ps := s.Stack(r)
			assert.Equal(t, c.want, lines(ps), "problems")
		})
	}
}

// TestObjects: a digest is that of what a resource is to be, whatever the number of
// VNFCs and whatever the VIM has for its demands.
func TestObjects(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	objects := func(change func(*Request)) map[string]string {
		r := request()
		r.Parameters = map[string]any{"key": "k"}
		change(&r)
		got, ps := s.Objects(r)
		require.Empty(t, ps, "%s", lines(ps))
		return got
	}
	base := objects(func(*Request) {})
	want := []string{
		"OS::Cinder::Volume disk", "OS::Neutron::FloatingIP floating", "OS::Neutron::Net inner", "OS::Neutron::Port CP2",
		"OS::Neutron::Subnet inner_subnet", "OS::Nova::Server VDU1", "OS::Nova::Server VDU2",
	}
	require.Equal(t, want, sorted(base))
	front, back, disk := want[5], want[6], want[0]
	for _, c := range []struct {
		name    string
		changed []string
		change  func(*Request)
	}{
		{"key", want, func(r *Request) { r.DigestKey = []byte("another") }},
		{"counts", nil, func(r *Request) { r.VNFCs, r.Counts = map[string][]int{"VDU1": {0}}, map[string]int{"VDU1": 1} }},
		{"assets", nil, func(r *Request) { r.Assets = nil }},
		{"hidden parameter", nil, func(r *Request) { r.Parameters["secret"] = "x" }},
		{"demand", []string{front}, func(r *Request) { r.Flavour.VDUs[0].CPUs = 4 }},
		{"image", []string{disk}, func(r *Request) { r.Flavour.Storages[0].SWImages[0].Version = "2" }},
		{"network", []string{front}, func(r *Request) {
			r.Links["CP1"] = Link{NetworkID: "other", IPs: []vnfm.IPAddress{{SubnetID: "s", FixedAddresses: []string{"a", "b", "c"}}}}
		}},
		{"addresses", []string{front}, func(r *Request) {
			l := r.Links["CP1"]
			l.IPs = []vnfm.IPAddress{{SubnetID: "subnet-1", FixedAddresses: []string{"198.51.100.7"}}}
			r.Links["CP1"] = l
		}},
		{"parameter", []string{back}, func(r *Request) { r.Parameters["key"] = "other" }},
		{"override", []string{back}, func(r *Request) {
			r.NFV = map[string]any{"VDU": map[string]any{"VDU2": map[string]any{"computeFlavourId": "mine"}}}
		}},
		{"override of one VNFC", []string{front}, func(r *Request) {
			r.NFV = map[string]any{"VDU": map[string]any{"VDU1-2": map[string]any{"computeFlavourId": "mine"}}}
		}},
		{"managed link", []string{"OS::Neutron::Net inner", "OS::Neutron::Port CP2", "OS::Neutron::Subnet inner_subnet", front}, func(r *Request) {
			r.Links["inner"] = Link{NetworkID: "net-2"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := objects(c.change)
			var changed []string
			for _, name := range sorted(base) {
				if got[name] != base[name] {
					changed = append(changed, name)
				}
			}
			assert.Equal(t, c.changed, changed)
		})
	}
	t.Run("nested file", func(t *testing.T) {
		before := maps.Clone(base)
		s = mustLoad(t, files(copied+"# more\n"), router())
		after := objects(func(*Request) {})
		for _, name := range sorted(before) {
			assert.Equal(t, name == front, before[name] != after[name], "%s changed", name)
		}
	})
}

// TestCompanions: what belongs to a VNFC stands beside it under its number, and what
// refers to that follows; what refers to all from a list stays one.
func TestCompanions(t *testing.T) {
	s := mustLoad(t, files(`-- simple/top.yaml --
heat_template_version: 2021-04-16
parameters: { nfv: { type: json } }
resources:
  VDU1: { type: OS::Nova::Server, properties: { networks: [ { port: { get_resource: CP1 } } ] } }
  CP1: { type: OS::Neutron::Port, properties: { network: { get_param: [nfv, CP, CP1, network] } } }
  floating: { type: OS::Neutron::FloatingIP, depends_on: VDU1, properties: { port_id: { get_resource: CP1 } } }
  all: { type: OS::Heat::Value, properties: { value: [ { get_attr: [floating, floating_ip_address] } ] } }
  VDU2: { type: OS::Nova::Server }
`), router())
	want := map[string]any{"VDU2-0": map[string]any{"type": "OS::Nova::Server"}}
	var addresses []any
	for _, n := range []string{"0", "2"} {
		want["VDU1-"+n] = map[string]any{"type": "OS::Nova::Server", "properties": map[string]any{
			"networks": []any{map[string]any{"port": map[string]any{fnResource: "CP1-" + n}}},
		}}
		want["CP1-"+n] = map[string]any{"type": "OS::Neutron::Port", "properties": map[string]any{
			"network": map[string]any{fnParam: []any{nfv, "CP", "CP1-" + n, "network"}},
		}}
		want["floating-"+n] = map[string]any{"type": "OS::Neutron::FloatingIP", "depends_on": []any{"VDU1-" + n}, "properties": map[string]any{
			"port_id": map[string]any{fnResource: "CP1-" + n},
		}}
		addresses = append(addresses, map[string]any{fnAttr: []any{"floating-" + n, "floating_ip_address"}})
	}
	want["all"] = map[string]any{"type": "OS::Heat::Value", "properties": map[string]any{"value": addresses}}
	assert.Empty(t, cmp.Diff(want, stackOf(t, s, request()).Template["resources"]))
}

// TestObjectsOfGroups: the size of a group is not part of what it is, be it given by the
// template or asked for.
func TestObjectsOfGroups(t *testing.T) {
	objects := func(template string, count int) map[string]string {
		r := request()
		r.VNFCs, r.Counts = nil, map[string]int{"VDU1": count, "VDU2": count}
		got, ps := mustLoad(t, files(template), router()).Objects(r)
		require.Empty(t, ps, "%s", lines(ps))
		return got
	}
	base := objects(grouped, 1)
	assert.Equal(t, []string{"OS::Heat::AutoScalingGroup VDU1_group", "OS::Heat::ResourceGroup VDU2"}, sorted(base))
	assert.Equal(t, base, objects(strings.Replace(grouped, "count: 1", "count: 2", 1), 2))
}
