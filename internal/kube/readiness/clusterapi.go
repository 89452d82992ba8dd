package readiness

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The API groups of Cluster API. Control planes are of any kind of theirs.
const (
	clusterGroup      = "cluster.x-k8s.io"
	controlPlaneGroup = "controlplane.cluster.x-k8s.io"
)

// modernConditions is the part of the status that an object of an older version
// keeps the conditions and counters of the present generation in.
const modernConditions = "v1beta2"

// ClusterConditions reads the conditions of an object of Cluster API: those of the
// present generation, which lie elsewhere in an object of version v1beta1, or the
// older ones where there are no others.
func ClusterConditions(obj *unstructured.Unstructured) []vnfm.Condition {
	if all, found := conditionsAt(obj, "status", modernConditions, "conditions"); found {
		return all
	}
	return Conditions(obj)
}

// ClusterCondition returns one condition of an object of Cluster API; empty if unset.
func ClusterCondition(obj *unstructured.Unstructured, kind string) vnfm.Condition {
	return ofType(kind, ClusterConditions(obj))
}

// ClusterConditionTrueSince is when a condition of an object of Cluster API became true; zero for one that is not.
func ClusterConditionTrueSince(obj *unstructured.Unstructured, kind string) time.Time {
	if obj == nil {
		return time.Time{}
	}
	for _, at := range [][]string{{"status", modernConditions, "conditions"}, {"status", "conditions"}} {
		list, _, _ := unstructured.NestedSlice(obj.Object, at...)
		for _, item := range list {
			fields, _ := item.(map[string]any)
			if fields["type"] == kind && fields["status"] == "True" {
				text, _ := fields["lastTransitionTime"].(string)
				since, _ := time.Parse(time.RFC3339, text)
				return since
			}
		}
	}
	return time.Time{}
}

// lacks says that a condition is not as it has to be, or nil.
func lacks(obj *unstructured.Unstructured, kind, want string) *Verdict {
	c := ClusterCondition(obj, kind)
	if c.Type == "" || c.Status == want {
		return nil
	}
	return inProgress(cmp.Or(c.Reason, kind), OneLine(cmp.Or(c.Message, kind+" is "+c.Status)))
}

// OneLine folds the lists that Cluster API's messages are made of.
func OneLine(message string) string {
	return strings.Join(strings.Fields(message), " ")
}

// MachineCounts reads how many machines a control plane or a set of machines wants
// and has. Those of the present generation have it in other fields than older ones.
func MachineCounts(obj *unstructured.Unstructured) vnfm.GroupState {
	s := vnfm.GroupState{Desired: integer(obj, 1, "spec", "replicas"), Replicas: integer(obj, 0, "status", "replicas")}
	modern := obj.GroupVersionKind().Version != "v1beta1"
	count := func(name, older string) int64 {
		switch {
		case modern:
			return integer(obj, 0, "status", name)
		default:
			return integer(obj, integer(obj, 0, "status", older), "status", modernConditions, name)
		}
	}
	s.Ready = count("readyReplicas", "readyReplicas")
	s.UpToDate = count("upToDateReplicas", "updatedReplicas")
	// Control planes of the older generation count the ready ones only.
	s.Available = count("availableReplicas", "readyReplicas")
	return s
}

// machinesRule judges control planes and sets of machines: every machine that is
// wanted exists, is available and is as the specification says.
func machinesRule(obj *unstructured.Unstructured) *Verdict {
	if !observed(obj) && obj.GroupVersionKind().Group == clusterGroup {
		return notObserved(obj)
	}
	if seen, found, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); found && seen < obj.GetGeneration() {
		return notObserved(obj)
	}
	if v := paused(obj); v != nil {
		return v
	}
	s := MachineCounts(obj)
	onDelete := Text(obj, "spec", "rollout", "strategy", "type") == "OnDelete" || Text(obj, "spec", "strategy", "type") == "OnDelete"
	switch {
	case s.Replicas != s.Desired:
		return machinesWait(obj, s, "ScalingUp", "ScalingDown", "RollingOut")
	case s.UpToDate < s.Desired && !onDelete && obj.GetKind() != "MachineSet":
		return machinesWait(obj, s, "RollingOut", "MachinesUpToDate")
	case s.Available < s.Desired:
		return machinesWait(obj, s, "Available", "MachinesReady")
	}
	if onDelete {
		return isReady("machines are replaced as they are deleted")
	}
	for _, kind := range []string{"RollingOut", "ScalingUp", "ScalingDown", "Deleting"} {
		if v := lacks(obj, kind, "False"); v != nil {
			return v
		}
	}
	return isReady(fmt.Sprintf("%d machines are available and up to date", s.Available))
}

// machinesWait counts, and says what one of the conditions has to say.
func machinesWait(obj *unstructured.Unstructured, s vnfm.GroupState, kinds ...string) *Verdict {
	v := inProgress("MachinesNotReady", fmt.Sprintf("%d of %d machines are up to date, %d are available, %d exist", s.UpToDate, s.Desired, s.Available, s.Replicas))
	for _, kind := range kinds {
		if c := ClusterCondition(obj, kind); c.Message != "" && BadWhen(kind) == c.Status {
			v.Reason, v.Message = cmp.Or(c.Reason, kind), v.Message+"; "+OneLine(c.Message)
			break
		}
	}
	return v
}

// BadWhen is the status in which a condition of Cluster API tells of something that is
// not done.
func BadWhen(kind string) string {
	switch kind {
	case "RollingOut", "ScalingUp", "ScalingDown", "Deleting", "Remediating", "Paused":
		return "True"
	}
	return "False"
}

func paused(obj *unstructured.Unstructured) *Verdict {
	if c := ClusterCondition(obj, "Paused"); c.Status == "True" {
		return inProgress("Paused", OneLine(cmp.Or(c.Message, "the object is paused")))
	}
	return nil
}

// clusterRule judges a Cluster. Its condition Available stays True all through a
// rolling upgrade, so the counts of its machines have to agree as well, and of a
// topology its controller must have said that all of it is handed on.
func clusterRule(obj *unstructured.Unstructured) *Verdict {
	if !observed(obj) {
		return cmp.Or(topologyFailed(obj), notObserved(obj))
	}
	if v := paused(obj); v != nil {
		return v
	}
	_, topology, _ := unstructured.NestedMap(obj.Object, "spec", "topology")
	_, controlPlane, _ := unstructured.NestedMap(obj.Object, "spec", "controlPlaneRef")
	if topology {
		if v := topologySeen(obj); v != nil {
			return v
		}
	}
	steps := []string{"TopologyReconciled", "InfrastructureReady", "ControlPlaneInitialized", "ControlPlaneAvailable", "WorkersAvailable", "Available"}
	for _, kind := range steps {
		if !controlPlane && !topology && strings.HasPrefix(kind, "ControlPlane") {
			continue
		}
		if v := lacks(obj, kind, "True"); v != nil {
			return v
		}
	}
	if ClusterCondition(obj, "Available").Type == "" && Text(obj, "status", "phase") != "Provisioned" {
		return inProgress("Provisioning", "the phase is "+cmp.Or(Text(obj, "status", "phase"), "not set yet"))
	}
	if ClusterCondition(obj, "Available").Type == "" {
		if v := lacks(obj, "Ready", "True"); v != nil {
			return v
		}
	}
	for _, part := range []struct{ field, name string }{{"controlPlane", "the control plane"}, {"workers", "the node groups"}} {
		if v := countsOf(obj, part.field, part.name); v != nil {
			return v
		}
	}
	for _, kind := range []string{"RollingOut", "ScalingUp", "ScalingDown", "Deleting"} {
		if v := lacks(obj, kind, "False"); v != nil {
			return v
		}
	}
	return isReady("the cluster is available")
}

// topologyFailed is what keeps the controller of topologies from reconciling the present generation
// of a Cluster; nil for nothing. The controller of the whole status waits for it.
func topologyFailed(obj *unstructured.Unstructured) *Verdict {
	if c := ClusterCondition(obj, "TopologyReconciled"); c.Message == "" || c.Generation < obj.GetGeneration() {
		return nil
	}
	return lacks(obj, "TopologyReconciled", "True")
}

// topologySeen says that the controller of topologies has not come to the present
// generation of a Cluster yet. The generation of the whole status is that of another
// controller.
func topologySeen(obj *unstructured.Unstructured) *Verdict {
	c := ClusterCondition(obj, "TopologyReconciled")
	switch {
	case c.Type == "":
		return inProgress("TopologyReconciled", "the topology has not been reconciled yet")
	case c.Generation != 0 && c.Generation < obj.GetGeneration():
		return inProgress("TopologyReconciled", "the last change of the topology has not been reconciled yet")
	}
	return nil
}

// countsOf judges the machines of one part of a Cluster, as far as it counts them.
func countsOf(obj *unstructured.Unstructured, field, name string) *Verdict {
	status := []string{"status", field}
	if obj.GroupVersionKind().Version == "v1beta1" {
		status = []string{"status", modernConditions, field}
	}
	at := func(leaf string) int64 { return integer(obj, 0, append(append([]string{}, status...), leaf)...) }
	desired := at("desiredReplicas")
	for _, leaf := range []string{"replicas", "upToDateReplicas", "availableReplicas"} {
		if n := at(leaf); n != desired {
			return inProgress("MachinesNotReady", fmt.Sprintf("%s: %s is %d of %d", name, leaf, n, desired))
		}
	}
	return nil
}
