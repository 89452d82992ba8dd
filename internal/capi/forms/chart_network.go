package forms

import (
	"cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// chartNetworking are the values that say which networks of the cloud a cluster is in.
func chartNetworking(n *vnfm.ClusterNetwork) map[string]any {
	out := map[string]any{}
	if n == nil {
		return out
	}
	chartExternalNetwork(out, n.External)
	internal := map[string]any{}
	Set(internal, "networkFilter", found(n.Internal))
	Set(internal, "subnetFilter", found(n.Subnet))
	Set(out, "internalNetwork", internal)
	return out
}

// chartExternalNetwork adds the values for the network of the floating IPs. Only the embedded chart has
// externalNetworkFilter.
func chartExternalNetwork(out map[string]any, r *vnfm.CloudResource) {
	switch {
	case r == nil:
	case len(r.Tags) > 0:
		Set(out, "externalNetworkFilter", found(r))
	default:
		Set(out, "externalNetworkId", cmp.Or(r.ID, r.Name))
	}
}

// found is what the provider of OpenStack finds something by.
func found(r *vnfm.CloudResource) map[string]any {
	out := map[string]any{}
	if r == nil {
		return out
	}
	Set(out, "id", r.ID)
	Set(out, "name", r.Name)
	Set(out, "tags", listed(r.Tags))
	return out
}

// chartPlace adds the values for what machines are made of and where they are.
func chartPlace(out map[string]any, p *vnfm.MachinePlace) {
	if v := p.RootVolume; v != nil {
		volume := map[string]any{"diskSize": v.SizeGiB}
		Set(volume, "volumeType", v.Type)
		Set(volume, "availabilityZone", v.AvailabilityZone)
		out["machineRootVolume"] = volume
	}
	var ports []any
	for i := range p.Networks {
		n := &p.Networks[i]
		port := map[string]any{}
		Set(port, "network", parameter(&n.CloudResource))
		if subnet := parameter(n.Subnet); len(subnet) > 0 {
			port["fixedIPs"] = []any{map[string]any{"subnet": subnet}}
		}
		ports = append(ports, port)
	}
	if len(ports) > 0 {
		out["machineNetworking"] = map[string]any{"ports": ports}
	}
}

// parameter is a parameter of the provider of OpenStack: an id, or a filter.
func parameter(r *vnfm.CloudResource) map[string]any {
	by := found(r)
	if len(by) == 0 || by["id"] != nil {
		return by
	}
	return map[string]any{"filter": by}
}
