package openstack

import (
	"context"
	"fmt"
	"net/http"
)

// network is a network of a lab with its one subnet.
type network struct {
	name, cidr, gateway string
	// external is one that routers lead to and floating addresses come from.
	external bool
}

func networks() []network {
	return []network{
		{name: "net0", cidr: "10.77.0.0/24", gateway: "10.77.0.1"},
		{name: "net1", cidr: "10.77.1.0/24", gateway: "10.77.1.1"},
		{name: "net_mgmt", cidr: "10.77.2.0/24", gateway: "10.77.2.1"},
		{name: "public", cidr: "172.24.4.0/24", gateway: "172.24.4.1", external: true},
	}
}

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
			"name": network.name + "-subnet", "network_id": made.Network.ID, "ip_version": 4,
			"cidr": network.cidr, "gateway_ip": network.gateway, "enable_dhcp": false,
		}
		if _, err := f.admin.call(ctx, http.MethodPost, base+"/subnets", map[string]any{"subnet": subnet}, nil); err != nil {
			return fmt.Errorf("making the subnet of network %s: %w", network.name, err)
		}
		f.state.Networks[network.name] = made.Network.ID
	}
	return nil
}
