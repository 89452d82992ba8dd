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

// A node becomes ready only with a network plugin. If its cloud provider is external, a cloud controller manager must initialise the
// node. Any tool may install both. Therefore the warning is limited to new clusters whose chart or template shows all objects, and
// which no other tool seems to select.

// networkPlugins and cloudControllers are parts of names of network plugins and of cloud controller managers.
var (
	networkPlugins   = []string{"cni", "antrea", "calico", "canal", "cilium", "flannel", "kube-ovn", "kube-router", "ovn-kubernetes", "tigera-operator", "weave"}
	cloudControllers = []string{"cloud-controller-manager", "ccm"}
)

// externalCloud is the kubelet argument for an external cloud provider, in the forms of v1beta1 and v1beta2 of Cluster API.
var externalCloud = []string{`"cloud-provider":"external"`, `"name":"cloud-provider","value":"external"`}

const silence = "If it is installed otherwise, ignore this, or set labels of the cluster by which a ClusterResourceSet, a HelmChartProxy or another tool selects it: there is no warning then."

// NodeNeeds is checkNodeNeeds for the target of a new cluster without a topology.
func (k *Checker) NodeNeeds(ctx context.Context, t *vnfm.Target) vnfm.Problems {
	if t.Instance.ID != "" || t.AdoptExisting || t.Instance.Cluster.Topology != nil {
		return nil
	}
	objects, err := k.cloudObjects(ctx, t)
	if err != nil {
		// The plan has already read the same objects.
		return nil
	}
	return checkNodeNeeds(t.Instance.Cluster, objects)
}

// checkNodeNeeds warns of a missing network plugin or cloud controller manager of a cluster on OpenStack.
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
	// "cni" is left out for objects, because it is part of many paths.
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

// isSelected reports whether another tool may install applications on a cluster: its objects include add-ons, or labels of the cluster
// may select it.
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

// addonNames returns the names of the add-ons and of their charts, in lower case.
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
