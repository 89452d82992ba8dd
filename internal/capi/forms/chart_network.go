package forms

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// network sets the values of the networks inside the cluster and in the cloud.
func (v *chartValues) network(n *vnfm.ClusterNetwork) {
	if n == nil {
		return
	}
	v.cluster("network.pod_cidrs", listed(n.PodCIDRs))
	v.cluster("network.service_cidrs", listed(n.ServiceCIDRs))
	v.cluster("network.service_domain", n.ServiceDomain)
	if n.APIServerPort != 0 {
		v.cluster("network.api_server_port", n.APIServerPort)
		if v.in.Takes("apiServer.port") {
			// The load balancer has the same port as the API servers.
			setAt(v.values, "apiServer.port", n.APIServerPort)
		}
	}
	v.cluster("network.internal", found(n.Internal))
	v.cluster("network.internal_subnet", found(n.Subnet))
	switch r := n.External; {
	case r == nil:
	case r.ID == "" && v.in.Takes(valueExternalFilter):
		setAt(v.values, valueExternalFilter, found(r))
	case r.ID == "":
		// findExternalNetwork handles a chart that takes an id alone.
	default:
		v.cluster("network.external", r.ID)
	}
}

// findExternalNetwork writes a filter for the external network into the rendered OpenStackCluster, if the network is given by name or
// tags and the chart takes an id alone. Cluster API Provider OpenStack has filters since its version v1beta1.
func (f chart) findExternalNetwork(spec *vnfm.ClusterSpec, objects []map[string]any, ps *vnfm.Problems) {
	if f.isEmbedded() || spec.Network == nil || spec.Network.External == nil || spec.Network.External.ID != "" {
		return
	}
	for _, o := range objects {
		if o["kind"] != "OpenStackCluster" || GroupOf(StringAt(o, "apiVersion")) != GroupInfrastructure {
			continue
		}
		cluster := Child(o, "spec")
		if cluster["externalNetwork"] != nil {
			// The chart has a value for the filter.
			return
		}
		if version := StringAt(o, "apiVersion"); version != GroupInfrastructure+"/v1beta1" && version != GroupInfrastructure+"/v1beta2" {
			break
		}
		cluster["externalNetwork"] = parameter(spec.Network.External)
		return
	}
	*ps = append(*ps, vnfm.Problem{
		Attribute: "network.external", Summary: "the chart takes the external network by its id alone",
		Detail: "it has no OpenStackCluster of version v1beta1 or later; give the id of the network",
	})
}

// found returns the fields of a filter of Cluster API Provider OpenStack.
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

// chartVolume returns the value for the boot volume of machines.
func chartVolume(v *vnfm.RootVolume) map[string]any {
	if v == nil {
		return nil
	}
	volume := map[string]any{"diskSize": v.SizeGiB}
	Set(volume, "volumeType", v.Type)
	Set(volume, "availabilityZone", v.AvailabilityZone)
	return volume
}

// chartPorts returns the value for the ports of machines.
func chartPorts(networks []vnfm.MachineNetwork) []any {
	var ports []any
	for i := range networks {
		n := &networks[i]
		port := map[string]any{}
		Set(port, "network", parameter(&n.CloudResource))
		if subnet := parameter(n.Subnet); len(subnet) > 0 {
			port["fixedIPs"] = []any{map[string]any{"subnet": subnet}}
		}
		ports = append(ports, port)
	}
	return ports
}

// parameter returns a parameter of Cluster API Provider OpenStack: an id, or a filter.
func parameter(r *vnfm.CloudResource) map[string]any {
	by := found(r)
	if len(by) == 0 || by["id"] != nil {
		return by
	}
	return map[string]any{"filter": by}
}
