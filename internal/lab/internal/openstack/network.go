package openstack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// network is a network of a lab with its one subnet.
type network struct {
	name, cidr, gateway string
	// external is one that routers lead to and floating addresses come from.
	external bool
}

// networks are on the addresses that a lab has when no other on the machine has them: see networksSQL.
func networks() []network {
	return []network{
		{name: "net0", cidr: "10.77.0.0/24", gateway: "10.77.0.1"},
		{name: "net1", cidr: "10.77.1.0/24", gateway: "10.77.1.1"},
		{name: "net_mgmt", cidr: "10.77.2.0/24", gateway: "10.77.2.1"},
		{name: "public", cidr: "10.77.4.0/24", gateway: "10.77.4.1", external: true},
	}
}

// networksSQL moves the networks of a lab that was copied to the addresses that the lab has on the machine.
func networksSQL(state *layout.OpenStack, chosen []service) []byte {
	if state.Octet == 0 || !slices.ContainsFunc(chosen, func(s service) bool { return s.kind == Network }) {
		return nil
	}
	var names []string
	for _, network := range networks() {
		names = append(names, "'"+network.subnet()+"'")
	}
	ours := "SELECT id FROM neutron.subnets WHERE name IN (" + strings.Join(names, ", ") + ")"
	var script bytes.Buffer
	move := func(table, where string, columns ...string) {
		for i, column := range columns {
			columns[i] = fmt.Sprintf("%s = REGEXP_REPLACE(%s, '^10[.][0-9]+[.]', '10.%d.')", column, column, state.Octet)
		}
		fmt.Fprintf(&script, "UPDATE neutron.%s SET %s WHERE %s;\n", table, strings.Join(columns, ", "), where)
	}
	move("subnets", "name IN ("+strings.Join(names, ", ")+")", "cidr", "gateway_ip")
	move("ipallocationpools", "subnet_id IN ("+ours+")", "first_ip", "last_ip")
	move("ipamallocationpools", "ipam_subnet_id IN (SELECT id FROM neutron.ipamsubnets WHERE neutron_subnet_id IN ("+ours+"))", "first_ip", "last_ip")
	return script.Bytes()
}

// subnet is the name of its subnet.
func (n network) subnet() string { return n.name + "-subnet" }

// fillNetworks makes the networks of a lab, which all projects may use.
func fillNetworks(ctx context.Context, f *filling) error {
	base := address(f.state.Ports, Network) + "/v2.0"
	f.state.Networks = map[string]string{}
	for _, network := range networks() {
		var made struct {
			Network identified `json:"network"`
		}
		object := map[string]any{"name": network.name, "shared": !network.external}
		if network.external {
			object["router:external"] = true
		}
		if _, err := f.admin.call(ctx, http.MethodPost, base+"/networks", map[string]any{"network": object}, &made); err != nil {
			return fmt.Errorf("making network %s: %w", network.name, err)
		}
		subnet := map[string]any{
			"name": network.subnet(), "network_id": made.Network.ID, "ip_version": 4,
			"cidr": network.cidr, "gateway_ip": network.gateway, "enable_dhcp": false,
		}
		if _, err := f.admin.call(ctx, http.MethodPost, base+"/subnets", map[string]any{"subnet": subnet}, nil); err != nil {
			return fmt.Errorf("making the subnet of network %s: %w", network.name, err)
		}
		f.state.Networks[network.name] = made.Network.ID
	}
	return nil
}
