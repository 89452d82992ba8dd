package forms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Labels of nodes have two sources. Cluster API carries over labels with some prefixes from the machine, and kubelet registers its node
// with others. Kubelet does not start with labels of Kubernetes' own prefixes, except a few.

var (
	// carried matches labels of machines that Cluster API carries over to their nodes.
	carried = lazyregexp.New(`^(node-role\.kubernetes\.io|(.+\.)?node-restriction\.kubernetes\.io|(.+\.)?node\.cluster\.x-k8s\.io)/`)
	// kubernetesPrefix matches labels of Kubernetes' own prefixes, kubeletPrefix the labels among them that kubelet may set.
	kubernetesPrefix = lazyregexp.New(`^(.+\.)?(kubernetes\.io|k8s\.io)/`)
	kubeletPrefix    = lazyregexp.New(`^(.+\.)?(kubelet|node)\.kubernetes\.io/`)
	kubeletLabels    = []string{
		"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
		"beta.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
	}
)

// isCarriedOver reports whether Cluster API carries a label of a machine over to its node, so that changing it replaces no machine.
func isCarriedOver(label string) bool { return carried.MatchString(label) }

// isKubelets reports whether kubelet may give its node a label.
func isKubelets(label string) bool {
	return !kubernetesPrefix.MatchString(label) || kubeletPrefix.MatchString(label) || slices.Contains(kubeletLabels, label)
}

// hasKubelets reports whether the machines of the chart run a kubelet. Machines in memory do not.
func (f chart) hasKubelets() bool { return !f.isEmbedded() || f.Name != chartInMemory }

// chartInMemory is the embedded chart whose machines are in memory alone.
const chartInMemory = "in-memory"

const labelAdvice = "kubelet may not set labels of kubernetes.io and k8s.io, and Cluster API carries over only those of node-role.kubernetes.io, " +
	"node-restriction.kubernetes.io and node.cluster.x-k8s.io; use one of these, or a prefix of your own"

// refuseLabels reports labels that no node can have.
func refuseLabels(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	eachLabel(spec, func(at vnfm.Problem, label, _ string) {
		if !isCarriedOver(label) && !isKubelets(label) {
			at.Summary, at.Detail = fmt.Sprintf("no node gets the label %s", label), labelAdvice
			*ps = append(*ps, at)
		}
	})
}

// eachLabel calls a function with each label of nodes in the arguments, and its place.
func eachLabel(spec *vnfm.ClusterSpec, do func(at vnfm.Problem, label, value string)) {
	for _, label := range SortedKeys(spec.ControlPlane.Labels) {
		do(vnfm.Problem{Attribute: "control_plane.labels", Key: label}, label, spec.ControlPlane.Labels[label])
	}
	for _, name := range SortedKeys(spec.NodeGroups) {
		for _, label := range SortedKeys(spec.NodeGroups[name].Labels) {
			do(vnfm.Problem{Attribute: vnfm.AttributeNodeGroups, Key: name, Field: "labels"}, label, spec.NodeGroups[name].Labels[label])
		}
	}
}

// reservedTaints are prefixes of taints that Kubernetes or Cluster API sets and removes.
var reservedTaints = []string{
	"node.cluster.x-k8s.io/uninitialized", "node.cluster.x-k8s.io/outdated-revision", "node.cloudprovider.kubernetes.io/",
	"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane",
}

// refuseTaints reports taints that a user may not set.
func refuseTaints(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	for _, name := range SortedKeys(spec.NodeGroups) {
		for _, t := range spec.NodeGroups[name].Taints {
			reserved := slices.ContainsFunc(reservedTaints, func(prefix string) bool { return strings.HasPrefix(t.Key, prefix) })
			if !reserved && (!strings.HasPrefix(t.Key, "node.kubernetes.io/") || t.Key == "node.kubernetes.io/out-of-service") {
				continue
			}
			*ps = append(*ps, vnfm.Problem{
				Attribute: vnfm.AttributeNodeGroups, Key: name, Field: "taints", Summary: fmt.Sprintf("the taint %s is not one to be set on nodes of a group", t.Key),
				Detail: "Kubernetes and Cluster API set and remove it by themselves; use a key of your own",
			})
		}
	}
}

// checkNodeLabels reports labels of the arguments that the rendered objects give to no node, or with which kubelet does not start.
func (f chart) checkNodeLabels(spec *vnfm.ClusterSpec, objects []map[string]any, ps *vnfm.Problems) {
	if !f.hasKubelets() {
		return
	}
	eachLabel(spec, func(at vnfm.Problem, label, value string) {
		machine, kubelet, found := nodesOf(spec, objects, at)
		if !found {
			return
		}
		given, registered := kubelet[label]
		carriedTo, there := machine[label]
		switch {
		case registered && !isKubelets(label):
			at.Summary = fmt.Sprintf("kubelet does not start with the label %s, which the chart gives to it", label)
			at.Detail = "leave it out, or set it as a label of machines by the means of the chart; " + labelAdvice
		case registered && given == value, there && isCarriedOver(label) && carriedTo == any(value):
			return
		default:
			at.Summary = fmt.Sprintf("no node gets the label %s from the chart", label)
			at.Detail = "neither the arguments of kubelet nor labels of machines that Cluster API carries over have it; leave it out, or set it by the means of the chart in chart.values"
		}
		*ps = append(*ps, at)
	})
}

// nodesOf returns the labels of the machines of a control plane or node group, and the labels with which their kubelets register
// nodes. It reports whether the objects with these labels were found.
func nodesOf(spec *vnfm.ClusterSpec, objects []map[string]any, at vnfm.Problem) (machine map[string]any, kubelet map[string]string, found bool) {
	group := at.Attribute == vnfm.AttributeNodeGroups
	for _, o := range objects {
		switch {
		case !group && o["kind"] == "KubeadmControlPlane":
			labels, _ := valueAt(o, "spec.machineTemplate.metadata.labels").(map[string]any)
			return labels, registeredLabels(valueAt(o, "spec.kubeadmConfigSpec.joinConfiguration")), true
		case group && o["kind"] == "MachineDeployment" && StringAt(o, "metadata", "name") == spec.Name+"-"+at.Key:
			labels, _ := valueAt(o, "spec.template.metadata.labels").(map[string]any)
			for _, template := range objects {
				if template["kind"] == "KubeadmConfigTemplate" && StringAt(template, "metadata", "name") == StringAt(o, "spec", "template", "spec", "bootstrap", "configRef", "name") {
					return labels, registeredLabels(valueAt(template, "spec.template.spec.joinConfiguration")), true
				}
			}
		}
	}
	return nil, nil, false
}

// registeredLabels returns the labels in the argument node-labels of a joinConfiguration of either version.
func registeredLabels(join any) map[string]string {
	fields, _ := join.(map[string]any)
	text := ""
	switch arguments := valueAt(fields, "nodeRegistration.kubeletExtraArgs").(type) {
	case map[string]any:
		text, _ = arguments["node-labels"].(string)
	case []any:
		for _, each := range arguments {
			if argument, _ := each.(map[string]any); argument["name"] == "node-labels" {
				text, _ = argument["value"].(string)
			}
		}
	}
	out := map[string]string{}
	for _, label := range strings.Split(text, ",") {
		if name, value, ok := strings.Cut(label, "="); ok {
			out[name] = value
		}
	}
	return out
}
