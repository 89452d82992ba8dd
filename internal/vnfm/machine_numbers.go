package vnfm

import "fmt"

// AttributeNodeGroups is the argument that problems of node groups are about.
const AttributeNodeGroups = "node_groups"

// The rules of numbers of machines hold for every form of a cluster. A configuration is checked by them before it is planned, and a
// specification from elsewhere with its form.

// CheckNumber finds a number of machines that no control plane can have.
func (c *ClusterControlPlane) CheckNumber() Problems {
	if n := c.Replicas; n != nil && (*n < 1 || *n%2 == 0) {
		return Problems{{
			Attribute: "control_plane.replicas",
			Summary:   fmt.Sprintf("a control plane cannot have %d machines", *n),
			Detail:    "its etcd needs an odd number of members: 1, 3 or 5",
		}}
	}
	return nil
}

// CheckNumbers finds numbers of a node group that contradict each other.
func (g *NodeGroup) CheckNumbers(name string) Problems {
	refuse := func(summary, detail string) Problems {
		return Problems{{Attribute: AttributeNodeGroups, Key: name, Summary: summary, Detail: detail}}
	}
	switch {
	case g.Replicas != nil && g.Autoscaled():
		return refuse(fmt.Sprintf("node group %q has a number of nodes and limits of an autoscaler", name),
			"either replicas says how many nodes there are, or min_replicas and max_replicas leave it to an autoscaler")
	case g.Autoscaled() && (g.MinReplicas == nil || g.MaxReplicas == nil):
		return refuse(fmt.Sprintf("node group %q has one limit of an autoscaler only", name), "set both min_replicas and max_replicas")
	case g.Autoscaled() && *g.MinReplicas > *g.MaxReplicas:
		return refuse(fmt.Sprintf("node group %q has a minimum of %d nodes, above the maximum of %d", name, *g.MinReplicas, *g.MaxReplicas),
			"min_replicas must not be above max_replicas")
	}
	return nil
}
