package forms

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// topology is the form of a cluster with a ClusterClass. Its only object is the Cluster.
type topology struct{ *vnfm.ClusterTopology }

func (f topology) objects(spec *vnfm.ClusterSpec, ps *vnfm.Problems) []map[string]any {
	if f.check(spec, ps); ps.HasErrors() {
		return nil
	}
	w := writer{modern: spec.APIVersion != "v1beta1"}
	return []map[string]any{w.cluster(spec, f.ClusterTopology)}
}

// check reports arguments that a topology does not support.
func (f topology) check(spec *vnfm.ClusterSpec, ps *vnfm.Problems) {
	refuse := func(attribute, key, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: key, Summary: summary, Detail: detail})
	}
	if spec.KubernetesVersion == "" {
		refuse("kubernetes_version", "", "a topology needs the version of Kubernetes", "for example kubernetes_version = \"1.34.0\"")
	}
	u := unusedArguments{ps: ps, form: "a topology", detail: "a ClusterClass has variables for that: set the one of this class in class_variables"}
	u.cluster("network", cloudNetworks(spec.Network))
	cp := &spec.ControlPlane
	u.cluster("control_plane", map[string]bool{
		"flavor": cp.Flavor != "", "root_volume": cp.RootVolume != nil, "networks": cp.Networks != nil, "failure_domains": cp.FailureDomains != nil,
	})
	for _, name := range slices.Sorted(maps.Keys(spec.NodeGroups)) {
		g := spec.NodeGroups[name]
		if g.Class == "" {
			refuse(vnfm.AttributeNodeGroups, name, fmt.Sprintf("node group %q has no class", name), "class names one of the worker classes of the ClusterClass")
		}
		u.group(name, map[string]bool{"flavor": g.Flavor != "", "root_volume": g.RootVolume != nil, "networks": g.Networks != nil})
		if spec.APIVersion == "v1beta1" && len(g.Taints) > 0 {
			refuse(vnfm.AttributeNodeGroups, name, fmt.Sprintf("node group %q has taints, which version v1beta1 of Cluster API does not know", name),
				"put them into the bootstrap template of the class")
		}
	}
}

// writer writes a Cluster in one of the two versions of its API.
type writer struct{ modern bool }

func (w writer) cluster(spec *vnfm.ClusterSpec, t *vnfm.ClusterTopology) map[string]any {
	apiVersion := Group + "/v1beta2"
	if !w.modern {
		apiVersion = Group + "/v1beta1"
	}
	top := map[string]any{"version": WithV(spec.KubernetesVersion)}
	if w.modern {
		ref := map[string]any{"name": t.Class}
		Set(ref, "namespace", t.ClassNamespace)
		top["classRef"] = ref
	} else {
		top["class"] = t.Class
		Set(top, "classNamespace", t.ClassNamespace)
		Set(top, "rolloutAfter", spec.RolloutAfter)
	}
	Set(top, "variables", variables(t.Variables))
	Set(top, "controlPlane", w.controlPlane(spec))
	var groups []any
	for _, name := range slices.Sorted(maps.Keys(spec.NodeGroups)) {
		groups = append(groups, w.nodeGroup(spec, name))
	}
	if len(groups) > 0 {
		top["workers"] = map[string]any{"machineDeployments": groups}
	}
	body := map[string]any{"topology": top}
	Set(body, "clusterNetwork", network(spec.Network))
	return map[string]any{"apiVersion": apiVersion, "kind": "Cluster", "metadata": metadata(spec), "spec": body}
}

func (w writer) controlPlane(spec *vnfm.ClusterSpec) map[string]any {
	cp := &spec.ControlPlane
	out := map[string]any{}
	SetInt(out, "replicas", cp.Replicas)
	Set(out, "metadata", labelled(cp.Labels, cp.Annotations))
	if w.modern && spec.RolloutAfter != "" {
		out["rollout"] = map[string]any{"after": spec.RolloutAfter}
	}
	Set(out, "variables", overrides(cp.Variables))
	w.deletion(out, cp.Deletion)
	w.healthCheck(out, cp.HealthCheck)
	return out
}

func (w writer) nodeGroup(spec *vnfm.ClusterSpec, name string) map[string]any {
	g := spec.NodeGroups[name]
	out := map[string]any{"class": g.Class, "name": name}
	annotations := maps.Clone(g.Annotations)
	if g.Autoscaled() {
		// One write sets the limits and omits the replicas: without the limits Cluster API
		// would default omitted replicas to one node.
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[clusterv1.AutoscalerMinSizeAnnotation] = strconv.FormatInt(*g.MinReplicas, 10)
		annotations[clusterv1.AutoscalerMaxSizeAnnotation] = strconv.FormatInt(*g.MaxReplicas, 10)
	} else {
		SetInt(out, "replicas", g.Replicas)
	}
	Set(out, "metadata", labelled(g.Labels, annotations))
	Set(out, "failureDomain", g.FailureDomain)
	Set(out, "variables", overrides(g.Variables))
	if len(g.Taints) > 0 {
		out["taints"] = taints(g.Taints)
	}
	w.deletion(out, g.Deletion)
	w.healthCheck(out, g.HealthCheck)
	w.rollout(out, g.Rollout, spec.RolloutAfter)
	return out
}

func (w writer) rollout(out map[string]any, r *vnfm.NodeRollout, after string) {
	strategy := map[string]any{}
	if r != nil {
		Set(strategy, "type", r.Type)
		rolling := map[string]any{}
		Set(rolling, "maxSurge", intOrPercent(r.MaxSurge))
		Set(rolling, "maxUnavailable", intOrPercent(r.MaxUnavailable))
		Set(strategy, "rollingUpdate", rolling)
	}
	if !w.modern {
		Set(out, "strategy", strategy)
		return
	}
	rollout := map[string]any{}
	Set(rollout, "strategy", strategy)
	Set(rollout, "after", after)
	Set(out, "rollout", rollout)
}

func (w writer) deletion(out map[string]any, d *vnfm.MachineDeletion) {
	if d == nil {
		return
	}
	modern := map[string]any{}
	for name, limit := range map[string]*time.Duration{
		"nodeDrainTimeout": d.NodeDrainTimeout, "nodeVolumeDetachTimeout": d.NodeVolumeDetachTimeout, "nodeDeletionTimeout": d.NodeDeletionTimeout,
	} {
		switch {
		case limit == nil:
		case w.modern:
			modern[name+"Seconds"] = seconds(*limit)
		default:
			out[name] = inSeconds(*limit)
		}
	}
	Set(out, "deletion", modern)
}

func (w writer) healthCheck(out map[string]any, h *vnfm.HealthCheck) {
	if h == nil {
		return
	}
	if !w.modern {
		check := map[string]any{"enable": h.Enabled}
		putSeconds(check, "nodeStartupTimeout", h.NodeStartupTimeout)
		if h.UnhealthyTimeout > 0 {
			check["unhealthyConditions"] = unhealthy("timeout", inSeconds(h.UnhealthyTimeout))
		}
		Set(check, "maxUnhealthy", intOrPercent(h.MaxUnhealthy))
		out["machineHealthCheck"] = check
		return
	}
	check := map[string]any{"enabled": h.Enabled}
	checks := map[string]any{}
	if h.NodeStartupTimeout > 0 {
		checks["nodeStartupTimeoutSeconds"] = seconds(h.NodeStartupTimeout)
	}
	if h.UnhealthyTimeout > 0 {
		checks["unhealthyNodeConditions"] = unhealthy("timeoutSeconds", seconds(h.UnhealthyTimeout))
	}
	Set(check, "checks", checks)
	if h.MaxUnhealthy != "" {
		check["remediation"] = map[string]any{"triggerIf": map[string]any{"unhealthyLessThanOrEqualTo": intOrPercent(h.MaxUnhealthy)}}
	}
	out["healthCheck"] = check
}

// unhealthy returns the conditions under which a node counts as lost after a time limit.
func unhealthy(field string, limit any) []any {
	var out []any
	for _, status := range []string{"Unknown", "False"} {
		out = append(out, map[string]any{"type": "Ready", "status": status, field: limit})
	}
	return out
}
