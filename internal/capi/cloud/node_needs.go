package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A node is ready once it has a network plugin and, with an external cloud provider, once that has initialised it. What installs
// both may be anywhere. Therefore a new cluster is warned about only where a chart or a template shows all that it brings, and where
// nothing says that another tool installs something on it.

// networkPlugins and cloudControllers are words of names of what gives a node its network, and of what initialises it.
var (
	networkPlugins   = []string{"cni", "antrea", "calico", "canal", "cilium", "flannel", "kube-ovn", "kube-router", "ovn-kubernetes", "tigera-operator", "weave"}
	cloudControllers = []string{"cloud-controller-manager", "ccm"}
)

// externalCloud is how the arguments of a kubelet say that a cloud controller manager initialises its node, in both forms of Cluster API.
var externalCloud = []string{`"cloud-provider":"external"`, `"name":"cloud-provider","value":"external"`}

const silence = "If it is installed otherwise, ignore this, or set labels of the cluster by which a ClusterResourceSet, a HelmChartProxy or another tool selects it: there is no warning then."

// NodeNeeds warns of what the nodes of a new cluster need and nothing gives them, see checkNodeNeeds.
func (k *Checker) NodeNeeds(ctx context.Context, t *vnfm.Target) vnfm.Problems {
	if t.Instance.ID != "" || t.AdoptExisting || t.Instance.Cluster.Topology != nil {
		return nil
	}
	objects, err := k.cloudObjects(ctx, t)
	if err != nil {
		// The plan has tried the same objects.
		return nil
	}
	return checkNodeNeeds(t.Instance.Cluster, objects)
}

// checkNodeNeeds finds what the nodes of a cluster on OpenStack need to become ready and what nothing gives them.
func checkNodeNeeds(spec *vnfm.ClusterSpec, objects []map[string]any) vnfm.Problems {
	if spec.Topology != nil || spec.IsPaused() || !isOnOpenStack(objects) || isSelected(spec, objects) {
		return nil
	}
	// The objects were decoded from YAML.
	encoded, _ := json.Marshal(objects)
	text := strings.ToLower(string(encoded))
	names := addonNames(spec)
	var ps vnfm.Problems
	warn := func(summary, detail string) {
		ps = append(ps, vnfm.Problem{Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeAddons, Summary: summary, Detail: detail + ". " + silence})
	}
	// "cni" alone is a word of many a path.
	if !containsAny(names, networkPlugins) && !containsAny(text, networkPlugins[1:]) {
		warn(fmt.Sprintf("no add-on of workload cluster %q is a network plugin, without which no node becomes ready", spec.Name),
			`add one, for example addons = { cni = { profile = "cilium" } }`)
	}
	if containsAny(text, externalCloud) && !containsAny(names, cloudControllers) && !containsAny(text, cloudControllers[:1]) {
		warn(fmt.Sprintf("the kubelets of workload cluster %q wait for a cloud controller manager, and no add-on is one: its nodes keep the taint node.cloudprovider.kubernetes.io/uninitialized", spec.Name),
			`set openstack.cloud_config, and addons = { cloud = { profile = "openstack-cloud-controller-manager" } }`)
	}
	return ps
}

func isOnOpenStack(objects []map[string]any) bool {
	return slices.ContainsFunc(objects, func(o map[string]any) bool {
		return o["kind"] == "OpenStackCluster" && forms.GroupOf(forms.StringAt(o, "apiVersion")) == forms.GroupInfrastructure
	})
}

// isSelected reports whether something else may install applications on a cluster: objects of the cluster do, or it has labels by which
// it is selected.
func isSelected(spec *vnfm.ClusterSpec, objects []map[string]any) bool {
	if spec.Chart != nil {
		if labels, _ := spec.Chart.Values["clusterLabels"].(map[string]any); len(labels) > 0 {
			return true
		}
	}
	return len(spec.Labels) > 0 || slices.ContainsFunc(objects, func(o map[string]any) bool {
		group := forms.GroupOf(forms.StringAt(o, "apiVersion"))
		meta, _ := o["metadata"].(map[string]any)
		labels, _ := meta["labels"].(map[string]any)
		return strings.HasPrefix(group, "addons.") || (spec.Template != nil && group == forms.Group && o["kind"] == "Cluster" && len(labels) > 0)
	})
}

// addonNames are the names of the add-ons and of their charts.
func addonNames(spec *vnfm.ClusterSpec) string {
	var names []string
	for name, a := range spec.Addons {
		if a.Unwanted {
			continue
		}
		names = append(names, name, a.Source.Name, a.Source.Path, a.Source.OCI)
		if a.Source.Chart != nil {
			names = append(names, a.Source.Chart.Name)
		}
	}
	return strings.ToLower(strings.Join(names, "\n"))
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
