package forms

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/drone/envsubst/v2"
	"github.com/drone/envsubst/v2/parse"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// template is the form of a cluster template of clusterctl.
type template struct{ *vnfm.ClusterTemplate }

// The variables that clusterctl itself sets (clusterctl generate cluster).
const (
	varName          = "CLUSTER_NAME"
	varNamespace     = "NAMESPACE"
	varVersion       = "KUBERNETES_VERSION"
	varControlPlanes = "CONTROL_PLANE_MACHINE_COUNT"
	varWorkers       = "WORKER_MACHINE_COUNT"
)

// Variables for a cluster with an application credential: the name of the cloud, as in the
// templates of Cluster API Provider OpenStack, and the name of the Secret, which these
// templates fix as "${CLUSTER_NAME}-cloud-config".
const (
	varCloud       = "OPENSTACK_CLOUD"
	varCloudSecret = "OPENSTACK_CLOUD_SECRET_NAME" //nolint:gosec // a name
)

const attributeVariables = "clusterctl_template.variables"

func (f template) objects(spec *vnfm.ClusterSpec, ps *vnfm.Problems) []map[string]any {
	return f.renameChanged(f.render(spec, ps))
}

// render returns the objects under the names that the template gives them.
func (f template) render(spec *vnfm.ClusterSpec, ps *vnfm.Problems) []map[string]any {
	f.check(spec, ps)
	used, err := variablesOf(f.Content)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "clusterctl_template.content", Summary: "the cluster template cannot be read",
			Detail: err.Error() + "; write a variable as ${NAME}, and a dollar sign as $$",
		})
		return nil
	}
	values := f.values(spec, used, ps)
	if ps.HasErrors() {
		return nil
	}
	text, err := envsubst.Eval(f.Content, func(name string) string { return values[name] })
	if err != nil {
		*ps = append(*ps, vnfm.Problem{Attribute: "clusterctl_template.content", Summary: "the variables of the cluster template cannot be filled in", Detail: err.Error() + "; use the functions that clusterctl knows, such as ${NAME:=default}"})
		return nil
	}
	objects, err := Decode(text)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "clusterctl_template.content", Summary: "the cluster template is not valid YAML once its variables are filled in", Detail: err.Error() + "; quote values that YAML reads otherwise",
		})
		return nil
	}
	f.complete(spec, objects, ps)
	return objects
}

// check reports arguments whose values belong in the cluster template.
func (f template) check(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	u := unusedArguments{ps: ps, form: "a cluster template of clusterctl", detail: "write it into the template, with a variable of clusterctl_template.variables where it changes"}
	u.cluster("", map[string]bool{
		"labels": len(spec.Labels) > 0, "annotations": len(spec.Annotations) > 0, "network": spec.Network != nil, "rollout_after": spec.RolloutAfter != "",
	})
	cp := &spec.ControlPlane
	u.cluster("control_plane", map[string]bool{
		"flavor": cp.Flavor != "", "labels": len(cp.Labels) > 0, "annotations": len(cp.Annotations) > 0, "class_variables": len(cp.Variables) > 0,
		"health_check": cp.HealthCheck != nil, "deletion": cp.Deletion != nil, "failure_domains": cp.FailureDomains != nil,
		"root_volume": cp.RootVolume != nil, "networks": cp.Networks != nil,
	})
	for _, name := range SortedKeys(spec.NodeGroups) {
		g := spec.NodeGroups[name]
		u.group(name, map[string]bool{
			"class": g.Class != "", "flavor": g.Flavor != "", "labels": len(g.Labels) > 0, "annotations": len(g.Annotations) > 0, "taints": len(g.Taints) > 0,
			"failure_domain": g.FailureDomain != "", "class_variables": len(g.Variables) > 0, "health_check": g.HealthCheck != nil, "rollout": g.Rollout != nil,
			"deletion": g.Deletion != nil, "root_volume": g.RootVolume != nil, "networks": g.Networks != nil,
		})
	}
}

// values returns the values of the variables, from the arguments of the cluster and from the
// variables of the user.
func (f template) values(spec *vnfm.ClusterSpec, used map[string]bool, ps *vnfm.Problems) map[string]string {
	values := argumentValues(spec, used, ps)
	f.addVariables(values, used, ps)
	var missing []string
	for name, hasDefault := range used {
		if _, ok := values[name]; !ok && !hasDefault {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		*ps = append(*ps, vnfm.Problem{
			Attribute: attributeVariables, Summary: "the cluster template needs values for " + strings.Join(missing, ", "),
			Detail: "set them in clusterctl_template.variables; " + varVersion + ", " + varControlPlanes + " and " + varWorkers +
				" come from kubernetes_version, control_plane and node_groups",
		})
	}
	return values
}

// argumentValues returns the arguments of the cluster under clusterctl's names.
func argumentValues(spec *vnfm.ClusterSpec, used map[string]bool, ps *vnfm.Problems) map[string]string {
	values := map[string]string{varName: spec.Name, varNamespace: spec.Namespace}
	set := func(name, attribute, value string) {
		if _, ok := used[name]; !ok {
			*ps = append(*ps, vnfm.Problem{
				Attribute: attribute,
				Summary:   fmt.Sprintf("the cluster template has no ${%s}", name),
				Detail:    "the argument becomes this variable of clusterctl; write it into the template instead of the fixed value, or leave the argument out",
			})
		}
		values[name] = value
	}
	if spec.KubernetesVersion != "" {
		set(varVersion, "kubernetes_version", WithV(spec.KubernetesVersion))
	}
	if n := spec.ControlPlane.Replicas; n != nil {
		set(varControlPlanes, "control_plane.replicas", strconv.FormatInt(*n, 10))
	}
	if len(spec.NodeGroups) == 1 {
		for _, g := range spec.NodeGroups {
			if n := cmp.Or(g.Replicas, g.MinReplicas); n != nil {
				values[varWorkers] = strconv.FormatInt(*n, 10)
			}
		}
	}
	if cloud := spec.OwnCredential(); cloud != nil {
		for name, value := range map[string]string{varCloud: cloud.CloudName, varCloudSecret: cloud.SecretName} {
			if _, ok := used[name]; ok {
				values[name] = value
			}
		}
	}
	return values
}

// addVariables adds the variables of the user, which may include the number of workers.
func (f template) addVariables(values map[string]string, used map[string]bool, ps *vnfm.Problems) {
	refuse := func(name, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attributeVariables, Key: name, Summary: summary, Detail: detail})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Variables)) {
		if _, own := values[name]; own && name != varWorkers {
			refuse(name, name+" is set by the arguments of the cluster", "remove it from the variables")
			continue
		}
		if _, ok := used[name]; !ok {
			refuse(name, fmt.Sprintf("the cluster template has no ${%s}", name), "its variables are "+strings.Join(slices.Sorted(maps.Keys(used)), ", "))
		}
		values[name] = f.Variables[name]
	}
}

// complete checks the objects, and sets the sizes of the node groups.
func (f template) complete(spec *vnfm.ClusterSpec, objects []map[string]any, ps *vnfm.Problems) {
	groups := map[string]map[string]any{}
	clusters := 0
	for _, o := range objects {
		apiVersion, _ := o["apiVersion"].(string)
		meta, _ := o["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		if !strings.HasPrefix(apiVersion, Group+"/") {
			continue
		}
		switch o["kind"] {
		case "Cluster":
			clusters++
			if name != spec.Name {
				*ps = append(*ps, vnfm.Problem{
					Attribute: "clusterctl_template.content", Summary: fmt.Sprintf("the Cluster of the template is named %q and not %q", name, spec.Name),
					Detail: "write ${" + varName + "} instead of the name, here and in the names of the other objects",
				})
			}
		case "MachineDeployment":
			groups[strings.TrimPrefix(name, spec.Name+"-")] = o
		}
	}
	if clusters != 1 {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "clusterctl_template.content", Summary: fmt.Sprintf("the cluster template has %d objects of kind Cluster", clusters),
			Detail: "a workload cluster has one",
		})
	}
	for _, name := range slices.Sorted(maps.Keys(spec.NodeGroups)) {
		o, ok := groups[name]
		if !ok {
			*ps = append(*ps, vnfm.Problem{
				Attribute: vnfm.AttributeNodeGroups, Key: name, Summary: fmt.Sprintf("the cluster template has no MachineDeployment %s-%s", spec.Name, name),
				Detail: "its node groups are " + strings.Join(slices.Sorted(maps.Keys(groups)), ", "),
			})
			continue
		}
		g := spec.NodeGroups[name]
		setSize(o, &g)
	}
}

// setSize sets the replicas of a MachineDeployment, or the limits of its autoscaler instead.
func setSize(o map[string]any, g *vnfm.NodeGroup) {
	spec, meta := Child(o, "spec"), Child(o, "metadata")
	if g.Autoscaled() {
		delete(spec, "replicas")
		annotations := Child(meta, "annotations")
		annotations[clusterv1.AutoscalerMinSizeAnnotation] = strconv.FormatInt(*g.MinReplicas, 10)
		annotations[clusterv1.AutoscalerMaxSizeAnnotation] = strconv.FormatInt(*g.MaxReplicas, 10)
		return
	}
	SetInt(spec, "replicas", g.Replicas)
}

// variablesOf returns the variables of a template. The value is true for a variable with a default.
func variablesOf(text string) (map[string]bool, error) {
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	visit(tree.Root, out)
	return out, nil
}

func visit(node parse.Node, out map[string]bool) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, each := range n.Nodes {
			visit(each, out)
		}
	case *parse.FuncNode:
		hasDefault := strings.Contains(n.Name, "=") || strings.Contains(n.Name, ":-") || n.Name == "-"
		if before, seen := out[n.Param]; !seen || before {
			out[n.Param] = hasDefault
		}
		for _, each := range n.Args {
			visit(each, out)
		}
	}
}
