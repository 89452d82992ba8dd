package kube

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// verdict is what can be said of the readiness of one object.
type verdict struct {
	ready, failed   bool
	reason, message string
}

func isReady(message string) *verdict            { return &verdict{ready: true, message: message} }
func inProgress(reason, message string) *verdict { return &verdict{reason: reason, message: message} }
func hasFailed(reason, message string) *verdict {
	return &verdict{failed: true, reason: reason, message: message}
}

// rules are the kinds for which kstatus says nothing, or not what a wait needs. A
// rule that returns nil leaves the kind to kstatus.
var rules = map[schema.GroupKind]func(*unstructured.Unstructured) *verdict{
	{Group: "apps", Kind: "Deployment"}:                   deploymentRule,
	{Group: "apps", Kind: "StatefulSet"}:                  statefulSetRule,
	{Group: "apps", Kind: "DaemonSet"}:                    daemonSetRule,
	{Kind: "ReplicationController"}:                       replicationControllerRule,
	{Group: "batch", Kind: "Job"}:                         jobRule,
	{Kind: "Pod"}:                                         podRule,
	{Kind: "PersistentVolumeClaim"}:                       claimRule,
	{Kind: "PersistentVolume"}:                            volumeRule,
	{Kind: "Namespace"}:                                   namespaceRule,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}: apiServiceRule,
	{Group: clusterGroup, Kind: "Cluster"}:                clusterRule,
	{Group: clusterGroup, Kind: "MachineDeployment"}:      machinesRule,
	{Group: clusterGroup, Kind: "MachinePool"}:            machinesRule,
	{Group: clusterGroup, Kind: "MachineSet"}:             machinesRule,
}

// readyOnCreation are the kinds whose objects are ready as soon as they exist. Those that
// are true have no status, so that no rule can say otherwise.
var readyOnCreation = map[schema.GroupKind]bool{
	{Kind: "ConfigMap"}:      true,
	{Kind: "Endpoints"}:      false,
	{Kind: "LimitRange"}:     false,
	{Kind: "PodTemplate"}:    false,
	{Kind: "ResourceQuota"}:  false,
	{Kind: "Secret"}:         true,
	{Kind: "ServiceAccount"}: true,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:          false,
	{Group: "batch", Kind: "CronJob"}:                                false,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:               false,
	{Group: "extensions", Kind: "Ingress"}:                           false,
	{Group: "networking.k8s.io", Kind: "Ingress"}:                    false,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:               false,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:              false,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                     false,
	{Group: "policy", Kind: "PodDisruptionBudget"}:                   false,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               true,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:              false,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                  false,
	{Group: "k8s.cni.cncf.io", Kind: "NetworkAttachmentDefinition"}:  false,
}

// ReadyOnCreation reports whether objects of a kind are ready as soon as they exist,
// unless a rule says otherwise.
func ReadyOnCreation(gk schema.GroupKind) bool {
	_, ok := readyOnCreation[gk]
	return ok
}

// WithoutStatus reports whether objects of a kind are ready as soon as they exist and no
// rule can say otherwise: their contents need not travel, and a Secret's must not.
func WithoutStatus(gk schema.GroupKind) bool { return readyOnCreation[gk] }

// ruleOf is the rule for a kind, nil for one that kstatus judges.
func ruleOf(gk schema.GroupKind) func(*unstructured.Unstructured) *verdict {
	if gk.Group == controlPlaneGroup && !strings.HasSuffix(gk.Kind, "Template") {
		return machinesRule
	}
	return rules[gk]
}

// Ready reports whether an object is ready, or failed for good, and why not. It
// is kstatus plus what that lacks: a workload with no replicas is ready once its
// controller has seen it; a Job is ready when it is complete; a bare Pod that
// failed is failed, one that crashes or finds no node is not (it may recover); a
// claim that lost its volume is failed; OnDelete updates are not waited for;
// Namespace, APIService, PersistentVolume and ReplicationController are judged at
// all; autoscalers, disruption budgets and ingresses only have to exist; what
// Cluster API makes is ready only when all its machines are. A rule that
// is not nil says it instead.
func Ready(obj *unstructured.Unstructured, own *Rule) (ready, failed bool, reason, message string) {
	v := judge(obj, own)
	return v.ready, v.failed, v.reason, v.message
}

func judge(obj *unstructured.Unstructured, own *Rule) *verdict {
	if obj.GetDeletionTimestamp() != nil && !cleanedUp(obj) {
		return inProgress("Terminating", "the object is being deleted")
	}
	if own != nil {
		return own.judge(obj)
	}
	gk := obj.GroupVersionKind().GroupKind()
	if ReadyOnCreation(gk) {
		return isReady("exists")
	}
	if rule := ruleOf(gk); rule != nil {
		if v := rule(obj); v != nil {
			return v
		}
	}
	res, err := status.Compute(obj)
	if err != nil {
		return inProgress("Unknown", "the status cannot be read: "+err.Error())
	}
	reason := string(res.Status)
	if len(res.Conditions) > 0 && res.Conditions[0].Reason != "" {
		reason = res.Conditions[0].Reason
	}
	switch res.Status {
	case status.CurrentStatus:
		return isReady(res.Message)
	case status.FailedStatus:
		return hasFailed(reason, res.Message)
	default:
		return inProgress(reason, res.Message)
	}
}

// cleanedUp reports whether an object is a Job that is complete and is being
// deleted because of its ttlSecondsAfterFinished.
func cleanedUp(obj *unstructured.Unstructured) bool {
	if obj.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		return false
	}
	return integer(obj, -1, "spec", "ttlSecondsAfterFinished") >= 0 && condition(obj, "Complete").Status == "True"
}

// observed reports whether the controller has seen the object as it is. Unlike
// kstatus it takes a missing observedGeneration for "not yet".
func observed(obj *unstructured.Unstructured) bool {
	seen, found, err := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	return err == nil && found && seen >= obj.GetGeneration()
}

func notObserved(obj *unstructured.Unstructured) *verdict {
	return inProgress("LatestGenerationNotObserved", fmt.Sprintf("the controller has not seen generation %d yet", obj.GetGeneration()))
}

func integer(obj *unstructured.Unstructured, fallback int64, path ...string) int64 {
	n, found, err := unstructured.NestedInt64(obj.Object, path...)
	if err != nil || !found {
		return fallback
	}
	return n
}

func text(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}

func deploymentRule(obj *unstructured.Unstructured) *verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	if integer(obj, 1, "spec", "replicas") == 0 {
		return drained(obj)
	}
	if paused, _, _ := unstructured.NestedBool(obj.Object, "spec", "paused"); paused {
		if c := condition(obj, "Progressing"); c.Reason == "DeploymentPaused" && integer(obj, 0, "status", "updatedReplicas") < integer(obj, 1, "spec", "replicas") {
			return inProgress(c.Reason, "spec.paused stops the rollout")
		}
	}
	if c := condition(obj, "Progressing"); c.Reason == "ProgressDeadlineExceeded" {
		return hasFailed(c.Reason, c.Message)
	}
	// A quota, for example, keeps pods from being made: only this condition says so.
	if c := condition(obj, "ReplicaFailure"); c.Status == "True" && integer(obj, 0, "status", "readyReplicas") < integer(obj, 1, "spec", "replicas") {
		return inProgress(c.Reason, c.Message)
	}
	return nil
}

// drained judges a workload that is scaled to no replicas.
func drained(obj *unstructured.Unstructured) *verdict {
	if left := integer(obj, 0, "status", "replicas"); left > 0 {
		return inProgress("ExtraPods", fmt.Sprintf("%d replicas are still to be removed", left))
	}
	return isReady("0 replicas are wanted")
}

func statefulSetRule(obj *unstructured.Unstructured) *verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	wanted := integer(obj, 1, "spec", "replicas")
	if wanted == 0 {
		return drained(obj)
	}
	if text(obj, "spec", "updateStrategy", "type") != "OnDelete" {
		return nil
	}
	return allReady(wanted, integer(obj, 0, "status", "replicas"), integer(obj, 0, "status", "readyReplicas"))
}

func daemonSetRule(obj *unstructured.Unstructured) *verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	if text(obj, "spec", "updateStrategy", "type") != "OnDelete" {
		return nil
	}
	wanted := integer(obj, 0, "status", "desiredNumberScheduled")
	return allReady(wanted, integer(obj, 0, "status", "currentNumberScheduled"), integer(obj, 0, "status", "numberReady"))
}

func replicationControllerRule(obj *unstructured.Unstructured) *verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	return allReady(integer(obj, 1, "spec", "replicas"), integer(obj, 0, "status", "replicas"), integer(obj, 0, "status", "readyReplicas"))
}

func allReady(wanted, there, ready int64) *verdict {
	switch {
	case there > wanted:
		return inProgress("ExtraPods", fmt.Sprintf("%d replicas are still to be removed", there-wanted))
	case ready < wanted:
		return inProgress("LessReady", fmt.Sprintf("Ready: %d/%d", ready, wanted))
	default:
		return isReady(fmt.Sprintf("Ready: %d/%d", ready, wanted))
	}
}

func jobRule(obj *unstructured.Unstructured) *verdict {
	if c := condition(obj, "Failed"); c.Status == "True" {
		return hasFailed(cmp.Or(c.Reason, "JobFailed"), cmp.Or(c.Message, "the job has failed"))
	}
	succeeded := integer(obj, 0, "status", "succeeded")
	if c := condition(obj, "Complete"); c.Status == "True" {
		return isReady(fmt.Sprintf("complete, %d succeeded", succeeded))
	}
	if suspended, _, _ := unstructured.NestedBool(obj.Object, "spec", "suspend"); suspended {
		return isReady("the job is suspended")
	}
	wanted := integer(obj, integer(obj, 1, "spec", "parallelism"), "spec", "completions")
	return inProgress("JobInProgress", fmt.Sprintf("succeeded: %d/%d, active: %d, failed: %d", succeeded, wanted,
		integer(obj, 0, "status", "active"), integer(obj, 0, "status", "failed")))
}

func podRule(obj *unstructured.Unstructured) *verdict {
	phase := text(obj, "status", "phase")
	switch phase {
	case "Succeeded":
		return isReady("the pod has completed")
	case "Failed":
		return hasFailed(cmp.Or(text(obj, "status", "reason"), "PodFailed"), cmp.Or(text(obj, "status", "message"), "the pod has failed"))
	}
	c := condition(obj, "Ready")
	if phase == "Running" && c.Status == "True" {
		return isReady("the pod is ready")
	}
	if s := condition(obj, "PodScheduled"); s.Status == "False" {
		c = s
	}
	return inProgress(cmp.Or(c.Reason, "PodNotReady"), cmp.Or(c.Message, "phase "+cmp.Or(phase, "unknown")))
}

func claimRule(obj *unstructured.Unstructured) *verdict {
	switch phase := text(obj, "status", "phase"); phase {
	case "Bound":
		return isReady("bound to " + text(obj, "spec", "volumeName"))
	case "Lost":
		return hasFailed("Lost", fmt.Sprintf("the volume %q of the claim no longer exists", text(obj, "spec", "volumeName")))
	default:
		return inProgress(claimNotBound, "phase "+cmp.Or(phase, "unknown"))
	}
}

// claimNotBound is the reason of a claim that may be waiting for its first consumer.
const claimNotBound = "NotBound"

func volumeRule(obj *unstructured.Unstructured) *verdict {
	switch phase := text(obj, "status", "phase"); phase {
	case "Available", "Bound":
		return isReady("phase " + phase)
	case "Failed":
		return hasFailed(cmp.Or(text(obj, "status", "reason"), "Failed"), cmp.Or(text(obj, "status", "message"), "the volume has failed"))
	case "Released":
		return inProgress(phase, "the volume still belongs to a claim that was deleted: remove spec.claimRef to use it again")
	default:
		return inProgress(cmp.Or(phase, "Pending"), "phase "+cmp.Or(phase, "unknown"))
	}
}

func namespaceRule(obj *unstructured.Unstructured) *verdict {
	if phase := text(obj, "status", "phase"); phase != "Active" {
		return inProgress(cmp.Or(phase, "Pending"), "phase "+cmp.Or(phase, "unknown"))
	}
	return isReady("active")
}

func apiServiceRule(obj *unstructured.Unstructured) *verdict {
	c := condition(obj, "Available")
	if c.Status != "True" {
		return inProgress(cmp.Or(c.Reason, "NotAvailable"), cmp.Or(c.Message, "the extension API server has not answered yet"))
	}
	return isReady("available")
}

// conditions returns status.conditions in the order of the object.
func conditions(obj *unstructured.Unstructured) []vnfm.Condition {
	all, _ := conditionsAt(obj, "status", "conditions")
	return all
}

// condition returns one of status.conditions; empty if unset.
func condition(obj *unstructured.Unstructured, kind string) vnfm.Condition {
	return ofType(kind, conditions(obj))
}

func conditionsAt(obj *unstructured.Unstructured, path ...string) (all []vnfm.Condition, found bool) {
	list, found, _ := unstructured.NestedSlice(obj.Object, path...)
	all = make([]vnfm.Condition, 0, len(list))
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		field := func(name string) string { s, _ := fields[name].(string); return s }
		generation, _ := fields["observedGeneration"].(int64)
		all = append(all, vnfm.Condition{Type: field("type"), Status: field("status"), Reason: field("reason"), Message: field("message"), Generation: generation})
	}
	return all, found
}

func ofType(kind string, all []vnfm.Condition) vnfm.Condition {
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}
	return vnfm.Condition{}
}
