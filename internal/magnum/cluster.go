package magnum

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// DefaultGroup is the node group of a cluster that names none.
const DefaultGroup = "default-worker"

// attributeChoices is where a cluster has its labels.
const attributeChoices = "cluster_template.labels"

// Complete makes the specification of a cluster one of a chart: it fills in what the
// cluster leaves to its template.
func (t *Template) Complete(spec *vnfm.ClusterSpec, c Choices, ps *vnfm.Problems) {
	refuse := func(attribute, key, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: key, Summary: summary, Detail: detail})
	}
	if v := spec.KubernetesVersion; v != "" && withoutV(v) != t.Version() {
		refuse("kubernetes_version", "", fmt.Sprintf("the cluster template has Kubernetes %s, not %s", t.Version(), withoutV(v)),
			"a cluster has the version of its template, and is upgraded by another template; leave kubernetes_version out")
	}
	spec.KubernetesVersion = t.Version()
	l := ReadLabels(c.Labels, attributeChoices, ps).withDefaults(ReadLabels(t.Labels, attributeLabels, &vnfm.Problems{}))
	t.checkLabels(l, attributeChoices, ps)
	checkLimits(l, ps)
	t.completeNetwork(spec)

	one := int64(1)
	if spec.ControlPlane.Replicas == nil {
		spec.ControlPlane.Replicas = &one
	}
	spec.ControlPlane.Flavor = cmp.Or(spec.ControlPlane.Flavor, t.ControlPlaneFlavor)
	groups := maps.Clone(spec.NodeGroups)
	if len(groups) == 0 {
		groups = map[string]vnfm.NodeGroup{DefaultGroup: {}}
	}
	for name := range sorted(groups) {
		g := groups[name]
		g.Flavor = cmp.Or(g.Flavor, t.NodeFlavor)
		if g.Replicas == nil && !g.Autoscaled() {
			g.Replicas = &one
		}
		autoscale(name, &g, l, ps)
		groups[name] = g
	}
	spec.NodeGroups = groups
	spec.Chart = &vnfm.ClusterChart{ChartSource: t.Chart.ChartSource, Values: vnfm.MergeValues(t.values(spec.Name, c, l), t.Chart.Values)}
}

// completeNetwork gives the external network of the template to a cluster that says none, when the chart takes it by its id alone and the
// template has a name.
func (t *Template) completeNetwork(spec *vnfm.ClusterSpec) {
	if !t.findsExternalNetwork() || (spec.Network != nil && spec.Network.External != nil) {
		return
	}
	network := vnfm.ClusterNetwork{}
	if spec.Network != nil {
		network = *spec.Network
	}
	network.External = &vnfm.CloudResource{Name: t.ExternalNetwork}
	spec.Network = &network
}

// findsExternalNetwork reports whether the cluster, and not its chart, finds the external network, by its name.
func (t *Template) findsExternalNetwork() bool {
	return t.ExternalNetwork != "" && !t.isEmbedded() && !uuidForm.MatchString(t.ExternalNetwork)
}

// checkLimits finds limits of an autoscaler that Magnum does not look at.
func checkLimits(l Labels, ps *vnfm.Problems) {
	if l.boolean("auto_scaling_enabled", false) {
		return
	}
	for _, name := range []string{"min_node_count", "max_node_count"} {
		if _, given := l[name]; given {
			*ps = append(*ps, vnfm.Problem{
				Attribute: attributeChoices, Key: name, Summary: fmt.Sprintf("label %q means nothing without an autoscaler", name),
				Detail: "set auto_scaling_enabled to true in the labels of the template or of the cluster, or leave it out",
			})
		}
	}
}

// autoscale leaves a group to an autoscaler as far as its limits or, for the default
// group, the labels say so. Limits that are the same leave it nothing to decide.
func autoscale(name string, g *vnfm.NodeGroup, l Labels, ps *vnfm.Problems) {
	refuse := func(summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: "node_groups", Key: name, Summary: fmt.Sprintf("node group %q %s", name, summary), Detail: detail})
	}
	enabled := l.boolean("auto_scaling_enabled", false)
	if _, given := l["auto_scaling_enabled"]; given && !enabled && g.Autoscaled() {
		refuse("has limits of an autoscaler, and the label auto_scaling_enabled is false", "leave one of them out")
		return
	}
	if g.Autoscaled() {
		if g.MinReplicas != nil && *g.MinReplicas < 1 {
			refuse("needs at least one node", "Cluster API Provider OpenStack does not scale a group from zero: min_replicas must be at least 1")
		}
		return
	}
	if !enabled || name != DefaultGroup {
		return
	}
	least, most := l.count("min_node_count", *g.Replicas), l.count("max_node_count", *g.Replicas)
	switch {
	case least < 1:
		refuse("needs at least one node", "the label min_node_count must be at least 1")
	case least > *g.Replicas:
		refuse(fmt.Sprintf("has %d nodes, and min_node_count is %d", *g.Replicas, least), "the label min_node_count is at most the number of nodes")
	case most < least:
		refuse(fmt.Sprintf("has a minimum of %d nodes, above the maximum of %d", least, most), "the label max_node_count must not be below min_node_count")
	case least != most:
		g.MinReplicas, g.MaxReplicas, g.Replicas = &least, &most, nil
	}
}
