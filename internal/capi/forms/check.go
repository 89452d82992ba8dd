package forms

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// version matches a version of Kubernetes, with or without the v.
var version = lazyregexp.New(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-+].+)?$`)

// check reports arguments that are invalid in every form of a cluster.
func check(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	refuse := func(attribute, key, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: key, Summary: summary, Detail: detail})
	}
	if v := spec.KubernetesVersion; v != "" && !version.MatchString(v) {
		refuse("kubernetes_version", "", fmt.Sprintf("%q is not a valid version of Kubernetes", v), "a version has three numbers, for example 1.34.0")
	}
	*ps = append(*ps, spec.ControlPlane.CheckNumber()...)
	for _, name := range slices.Sorted(maps.Keys(spec.NodeGroups)) {
		g := spec.NodeGroups[name]
		if msgs := validation.IsDNS1123Label(name); len(msgs) > 0 {
			refuse(vnfm.AttributeNodeGroups, name, fmt.Sprintf("%q is not a valid name of a node group", name), "lower case letters, digits and hyphens, 63 at most")
		}
		switch {
		case len(g.ScaleInMachineNames) > 0 && g.Autoscaled():
			refuse(vnfm.AttributeNodeGroups, name, fmt.Sprintf("machines of node group %q are named to be removed, and an autoscaler sizes it", name),
				"an autoscaler chooses by itself which machine goes; set replicas instead of min_replicas and max_replicas, or leave scale_in_machine_names out")
		case len(g.ScaleInMachineNames) > 0 && g.Replicas == nil:
			refuse(vnfm.AttributeNodeGroups, name, fmt.Sprintf("machines of node group %q are named to be removed, and replicas does not say how many stay", name),
				"set replicas to the number of machines that stay")
		default:
			*ps = append(*ps, g.CheckNumbers(name)...)
		}
	}
}

// WithV adds the v of a version, as Cluster API requires it.
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
