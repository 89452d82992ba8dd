package hot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAwaitSubnets: who is given a network waits for what its ports stand on, except for what waits for it itself.
func TestAwaitSubnets(t *testing.T) {
	const networks = `
  outer: { type: OS::Neutron::Net }
  outer_subnet: { type: OS::Neutron::Subnet, properties: { network_id: { get_resource: outer }, cidr: 192.0.2.0/24 } }
  outer_v6: { type: OS::Neutron::Subnet, properties: { network: { get_resource: outer }, cidr: "2001:db8::/64", ip_version: 6 } }
  leg: { type: OS::Neutron::RouterInterface, properties: { router: r, subnet: { get_resource: outer_subnet } } }
  other: { type: OS::Neutron::Net }
  other_subnet: { type: OS::Neutron::Subnet, properties: { network: { get_resource: other }, cidr: 198.51.100.0/24 } }
  late: { type: OS::Neutron::Subnet, depends_on: VDU1, properties: { network: { get_resource: outer }, cidr: 203.0.113.0/24 } }
`
	const unit = "-- simple/nested/unit.yaml --\nheat_template_version: wallaby\nparameters: { net: { type: string } }\nresources: { VDU1: { type: OS::Nova::Server } }\n"
	for name, c := range map[string]struct {
		vdu  string
		want any
	}{
		"copied":     {"VDU1: { type: unit.yaml, properties: { net: { get_resource: outer } } }", []any{"outer_subnet", "outer_v6", "leg"}},
		"said":       {"VDU1: { type: unit.yaml, depends_on: outer_v6, properties: { net: { get_resource: outer } } }", []any{"outer_v6", "outer_subnet", "leg"}},
		"no network": {"VDU1: { type: unit.yaml, properties: { net: mine } }", nil},
		"grouped": {"VDU1: { type: OS::Heat::ResourceGroup, properties: { count: 1, resource_def: { type: unit.yaml, properties: { net: { get_resource: outer } } } } }",
			[]any{"outer_subnet", "outer_v6", "leg"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustLoad(t, files(head+"\n  "+c.vdu+"\n  VDU2: { type: OS::Nova::Server }"+networks+unit), router())
			r := request()
			r.Links, r.VNFCs, r.Assets = nil, map[string][]int{"VDU1": {0}, "VDU2": {0}}, nil
			r.Counts["VDU1"] = 1
			stack, problems := s.Stack(r)
			require.False(t, problems.HasErrors(), lines(problems))
			resources := mapOf(stack.Template["resources"])
			vdu := mapOf(resources["VDU1-0"])
			if vdu == nil {
				vdu = mapOf(resources["VDU1"])
			}
			require.Equal(t, c.want, vdu["depends_on"])
		})
	}
}
