package forms

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// version is the form of a version of Kubernetes, with or without its v.
var version = lazyregexp.New(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-+].+)?$`)

// AttributeNodeGroups is the argument that problems of node groups are about.
const AttributeNodeGroups = "node_groups"

// check finds what no form of a cluster can have.
func check(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	refuse := func(attribute, key, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: key, Summary: summary, Detail: detail})
	}
	if v := spec.KubernetesVersion; v != "" && !version.MatchString(v) {
		refuse("kubernetes_version", "", fmt.Sprintf("%q is not a valid version of Kubernetes", v), "a version has three numbers, for example 1.34.0")
	}
	if n := spec.ControlPlane.Replicas; n != nil && (*n < 1 || *n%2 == 0) {
		refuse("control_plane.replicas", "", fmt.Sprintf("a control plane cannot have %d machines", *n),
			"its etcd needs an odd number of members: 1, 3 or 5")
	}
	for _, name := range slices.Sorted(maps.Keys(spec.NodeGroups)) {
		g := spec.NodeGroups[name]
		if msgs := validation.IsDNS1123Label(name); len(msgs) > 0 {
			refuse(AttributeNodeGroups, name, fmt.Sprintf("%q is not a valid name of a node group", name), "lower case letters, digits and hyphens, 63 at most")
		}
		switch {
		case len(g.ScaleInMachineNames) > 0 && g.Autoscaled():
			refuse(AttributeNodeGroups, name, fmt.Sprintf("machines of node group %q are named to be removed, and an autoscaler sizes it", name),
				"an autoscaler chooses by itself which machine goes; set replicas instead of min_replicas and max_replicas, or leave scale_in_machine_names out")
		case len(g.ScaleInMachineNames) > 0 && g.Replicas == nil:
			refuse(AttributeNodeGroups, name, fmt.Sprintf("machines of node group %q are named to be removed, and replicas does not say how many stay", name),
				"set replicas to the number of machines that stay")
		case g.Replicas != nil && g.Autoscaled():
			refuse(AttributeNodeGroups, name, fmt.Sprintf("node group %q has a number of nodes and limits of an autoscaler", name),
				"either replicas says how many nodes there are, or min_replicas and max_replicas leave it to an autoscaler")
		case g.Autoscaled() && (g.MinReplicas == nil || g.MaxReplicas == nil):
			refuse(AttributeNodeGroups, name, fmt.Sprintf("node group %q has one limit of an autoscaler only", name), "set both min_replicas and max_replicas")
		case g.Autoscaled() && *g.MinReplicas > *g.MaxReplicas:
			refuse(AttributeNodeGroups, name, fmt.Sprintf("node group %q has a minimum of %d nodes, above the maximum of %d", name, *g.MinReplicas, *g.MaxReplicas), "min_replicas must not be above max_replicas")
		}
	}
}

// WithV writes a version as Cluster API does: with a v.
func WithV(v string) string {
	if v != "" && v[0] != 'v' {
		return "v" + v
	}
	return v
}

// WithoutV removes the v of a version.
func WithoutV(v string) string {
	if v != "" && v[0] == 'v' {
		return v[1:]
	}
	return v
}
