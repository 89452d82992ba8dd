package capi

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Displayed names of units.
const unitControlPlane = "control plane"

func unitGroup(name string) string { return "node group " + name }

// units returns the control plane and the node groups of a cluster, with the fields whose change replaces their machines. Cluster API
// drains each machine that it replaces. The names of the objects begin with the name of the cluster.
func units(cluster string, fields map[string]any) map[string]vnfm.Unit {
	out := map[string]vnfm.Unit{}
	for _, o := range fields {
		object, _ := o.(map[string]any)
		apiVersion, _ := object["apiVersion"].(string)
		apiGroup, _, _ := strings.Cut(apiVersion, "/")
		kind, _ := object["kind"].(string)
		name, _ := fieldAt(object, "metadata", "name").(string)
		switch {
		case apiGroup == group && kind == "Cluster" && fieldAt(object, "spec", "topology") != nil:
			topologyUnits(object, out)
		case apiGroup == group && kind == "MachineDeployment":
			out[unitGroup(strings.TrimPrefix(name, cluster+"-"))] = machines(object, fieldAt(object, "spec", "replicas"), groupRollout(object, "spec"), map[string]any{
				"version": fieldAt(object, "spec", "template", "spec", "version"), "bootstrap": fieldAt(object, "spec", "template", "spec", "bootstrap"),
				"infrastructure": fieldAt(object, "spec", "template", "spec", "infrastructureRef"), "zone": fieldAt(object, "spec", "template", "spec", "failureDomain"),
				"after": cmp.Or(fieldAt(object, "spec", "rollout", "after"), fieldAt(object, "spec", "rolloutAfter")),
			})
		case strings.HasPrefix(apiGroup, "controlplane.") && strings.HasSuffix(kind, "ControlPlane"):
			out[unitControlPlane] = machines(object, fieldAt(object, "spec", "replicas"), controlPlaneRollout(object), map[string]any{
				"version": fieldAt(object, "spec", "version"), "configuration": fieldAt(object, "spec", "kubeadmConfigSpec"),
				"infrastructure": cmp.Or(fieldAt(object, "spec", "machineTemplate", "infrastructureRef"), fieldAt(object, "spec", "machineTemplate", "spec", "infrastructureRef")),
				"after":          cmp.Or(fieldAt(object, "spec", "rollout", "after"), fieldAt(object, "spec", "rolloutAfter")),
			})
		}
	}
	return out
}

// topologyUnits adds the units of a cluster with a topology. Only its ClusterClass defines which variables affect machines.
func topologyUnits(cluster map[string]any, out map[string]vnfm.Unit) {
	topology, _ := fieldAt(cluster, "spec", "topology").(map[string]any)
	common := func(part map[string]any) map[string]any {
		return map[string]any{
			"version": topology["version"], "class": cmp.Or(topology["classRef"], topology["class"]), "variables": []any{topology["variables"], part["variables"]},
			"after": cmp.Or(fieldAt(part, "rollout", "after"), topology["rolloutAfter"]),
		}
	}
	plane, _ := topology["controlPlane"].(map[string]any)
	out[unitControlPlane] = machines(plane, plane["replicas"], "replaced one at a time, drained", common(plane))
	groups, _ := fieldAt(topology, "workers", "machineDeployments").([]any)
	for _, each := range groups {
		g, _ := each.(map[string]any)
		parts := common(g)
		parts["worker class"], parts["zone"] = g["class"], g["failureDomain"]
		name, _ := g["name"].(string)
		out[unitGroup(name)] = machines(g, g["replicas"], groupRollout(g), parts)
	}
}

// machines returns a unit of machines. A change of one of the parts replaces the machines; the other fields of the object are updated
// in place.
func machines(object map[string]any, replicas any, rollout string, parts map[string]any) vnfm.Unit {
	unit := vnfm.Unit{Of: "machines"}
	switch n := replicas.(type) {
	case int64:
		count := int(n)
		unit.Count = &count
	case int:
		unit.Count = &n
	}
	for name, value := range parts {
		effect := vnfm.Effect{Rank: 2, Text: rollout}
		if name == "variables" {
			effect = vnfm.Effect{Rank: 1, Text: rollout + ", if the class has the changed variables in its machines"}
		}
		unit.Parts = append(unit.Parts, vnfm.UnitPart{Name: name, Value: value, Effect: effect})
	}
	for _, name := range []string{"metadata", "taints", "deletion", "healthCheck", "nodeDrainTimeout"} {
		if value := object[name]; value != nil && fieldAt(object, "kind") == nil {
			unit.Parts = append(unit.Parts, vnfm.UnitPart{Name: name, Value: value, Effect: vnfm.Effect{Text: "updated in place"}})
		}
	}
	return unit
}

// groupRollout describes the rollout strategy at a path of a node group. The default is one additional machine at a time.
func groupRollout(object map[string]any, path ...string) string {
	described, _ := fieldAt(object, path...).(map[string]any)
	strategy, _ := cmp.Or(fieldAt(described, "rollout", "strategy"), fieldAt(described, "strategy")).(map[string]any)
	if strategy["type"] == "OnDelete" {
		return "replaced when they are deleted"
	}
	surge, unavailable := fieldAt(strategy, "rollingUpdate", "maxSurge"), fieldAt(strategy, "rollingUpdate", "maxUnavailable")
	return "replaced" + atATime(surge, unavailable) + ", drained"
}

// controlPlaneRollout is groupRollout for a control plane.
func controlPlaneRollout(object map[string]any) string {
	strategy, _ := cmp.Or(fieldAt(object, "spec", "rollout", "strategy"), fieldAt(object, "spec", "rolloutStrategy")).(map[string]any)
	return "replaced" + atATime(fieldAt(strategy, "rollingUpdate", "maxSurge"), nil) + ", drained"
}

func atATime(surge, unavailable any) string {
	zero := func(v any) bool { return fmt.Sprint(v) == "0" || fmt.Sprint(v) == "0%" }
	switch {
	case surge == nil:
		surge = 1
	case zero(surge) && unavailable == nil:
		unavailable = 1
	}
	switch {
	case zero(surge):
		return fmt.Sprintf(", at most %v unavailable", unavailable)
	case unavailable == nil || zero(unavailable):
		return fmt.Sprintf(", %v more at a time", surge)
	default:
		return fmt.Sprintf(", %v more at a time, at most %v unavailable", surge, unavailable)
	}
}

// fieldAt returns a nested value; nil if there is none.
func fieldAt(object map[string]any, path ...string) any {
	if len(path) == 0 {
		return object
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	return value
}
