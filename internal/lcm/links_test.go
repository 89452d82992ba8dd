package lcm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestCheckLinks: connection points that the flavour does not have, and addresses that they cannot have.
func TestCheckLinks(t *testing.T) {
	t.Parallel()
	flavour := &vnfm.Flavour{ID: "simple", ConnectionPoints: []vnfm.ConnectionPoint{
		{ID: "CP1", VDUID: "VDU1", External: true, Protocols: []string{"ethernet", "ipv4"}},
		{ID: "CP2", VDUID: "VDU1", External: true, Protocols: []string{"ipv4", "ipv6"}},
		{ID: "CP3", VDUID: "VDU1", External: true, Protocols: []string{"ethernet"}},
	}}
	at := func(addresses ...string) vnfm.ExtCP {
		return vnfm.ExtCP{IPAddresses: []vnfm.IPAddress{{SubnetID: "s", FixedAddresses: addresses}}}
	}
	for name, c := range map[string]struct {
		links map[string]vnfm.ExtVirtualLink
		want  []string
	}{
		"dual stack": {map[string]vnfm.ExtVirtualLink{"a": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{
			"CP1": at("192.0.2.1"), "CP2": at("192.0.2.2", "2001:db8::2"), "CP3": at("2001:db8::3"),
		}}}, nil},
		"no such point": {map[string]vnfm.ExtVirtualLink{"a": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{"CP9": {}}}}, []string{
			`ext_virtual_links["a"]: deployment flavour "simple" has no external connection point "CP9"`,
		}},
		"an address twice in a network of two links": {map[string]vnfm.ExtVirtualLink{
			"a": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{"CP2": at("2001:db8::1")}},
			"b": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{"CP3": at("2001:DB8:0::1")}},
		}, []string{`ext_virtual_links["b"]: address 2001:db8::1 is given to connection points "CP2" and "CP3"`}},
		"an address twice in two networks": {map[string]vnfm.ExtVirtualLink{
			"a": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{"CP2": at("192.0.2.1")}},
			"b": {ResourceID: "m", ExtCPs: map[string]vnfm.ExtCP{"CP3": at("192.0.2.1")}},
		}, nil},
		"a family that the VNFD does not have": {map[string]vnfm.ExtVirtualLink{"a": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{"CP1": at("2001:db8::1", "2001:db8::2")}}}, []string{
			`warning ext_virtual_links["a"]: connection point "CP1" is given address 2001:db8::1, and the VNFD does not list ipv6 among its layer_protocols`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var problems vnfm.Problems
			checkLinks(flavour, vnfm.Links{External: c.links}, &problems)
			var got []string
			for _, p := range problems {
				text := p.Attribute + "[\"" + p.Key + "\"]: " + p.Summary
				if p.Severity == vnfm.SeverityWarning {
					text = "warning " + text
				}
				got = append(got, text)
			}
			require.Equal(t, c.want, got)
		})
	}
}
