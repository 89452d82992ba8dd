// Package readiness decides when an object of Kubernetes is ready. It sends no request.
package readiness

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Verdict is the readiness of one object. The zero value is no verdict.
type Verdict struct {
	Ready bool
	// Failed is permanent: waiting is pointless.
	Failed          bool
	Reason, Message string
}

func isReady(message string) *Verdict            { return &Verdict{Ready: true, Message: message} }
func inProgress(reason, message string) *Verdict { return &Verdict{Reason: reason, Message: message} }
func hasFailed(reason, message string) *Verdict {
	return &Verdict{Failed: true, Reason: reason, Message: message}
}

// rules are of kinds that kstatus lacks, or judges too early or too late for a wait.
// A rule that returns nil leaves the object to kstatus.
var rules = map[schema.GroupKind]func(*unstructured.Unstructured) *Verdict{
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

// onCreation are the kinds whose objects are ready as soon as they exist. The value is
// true for kinds without a status, for which a Rule makes no sense.
var onCreation = map[schema.GroupKind]bool{
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

// OnCreation reports whether objects of a kind are ready as soon as they exist, unless
// a Rule overrides it.
func OnCreation(gk schema.GroupKind) bool {
	_, ok := onCreation[gk]
	return ok
}

// WithoutStatus reports whether objects of a kind are ready as soon as they exist and no
// Rule can override it: their contents need not travel, and contents of a Secret must not.
func WithoutStatus(gk schema.GroupKind) bool { return onCreation[gk] }

// ruleOf is the rule for a kind, nil for one that kstatus judges.
func ruleOf(gk schema.GroupKind) func(*unstructured.Unstructured) *Verdict {
	if gk.Group == controlPlaneGroup && !strings.HasSuffix(gk.Kind, "Template") {
		return machinesRule
	}
	return rules[gk]
}

// Of returns the readiness of an object. It is kstatus with these differences:
//   - A workload with no replicas is ready once its controller has observed it; OnDelete updates are not awaited.
//   - A Job is ready when it is complete.
//   - A bare Pod that failed has failed; a pod that crashes or has no node may recover.
//   - A claim that lost its volume has failed.
//   - Namespace, APIService, PersistentVolume and ReplicationController have rules.
//   - Autoscalers, disruption budgets and ingresses are ready when they exist.
//   - Objects of Cluster API are ready when all their machines are.
//
// A rule that is not nil replaces all of this, except that an object being deleted is not ready.
func Of(obj *unstructured.Unstructured, own *Rule) Verdict {
	gk := obj.GroupVersionKind().GroupKind()
	switch {
	case obj.GetDeletionTimestamp() != nil && !cleanedUp(obj):
		return Verdict{Reason: "Terminating", Message: "the object is being deleted"}
	case own != nil:
		return *own.judge(obj)
	case OnCreation(gk):
		return Verdict{Ready: true, Message: "exists"}
	}
	if rule := ruleOf(gk); rule != nil {
		if v := rule(obj); v != nil {
			return *v
		}
	}
	return *kstatus(obj)
}

func kstatus(obj *unstructured.Unstructured) *Verdict {
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
	return integer(obj, -1, "spec", "ttlSecondsAfterFinished") >= 0 && Condition(obj, "Complete").Status == "True"
}

// observed reports whether the controller has seen the object as it is. Unlike
// kstatus it takes a missing observedGeneration for "not yet".
func observed(obj *unstructured.Unstructured) bool {
	seen, found, err := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	return err == nil && found && seen >= obj.GetGeneration()
}

func notObserved(obj *unstructured.Unstructured) *Verdict {
	return inProgress("LatestGenerationNotObserved", fmt.Sprintf("the controller has not seen generation %d yet", obj.GetGeneration()))
}

func integer(obj *unstructured.Unstructured, fallback int64, path ...string) int64 {
	n, found, err := unstructured.NestedInt64(obj.Object, path...)
	if err != nil || !found {
		return fallback
	}
	return n
}

// Text returns the string at a path; empty if unset.
func Text(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}

func deploymentRule(obj *unstructured.Unstructured) *Verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	if integer(obj, 1, "spec", "replicas") == 0 {
		return drained(obj)
	}
	if paused, _, _ := unstructured.NestedBool(obj.Object, "spec", "paused"); paused {
		if c := Condition(obj, "Progressing"); c.Reason == "DeploymentPaused" && integer(obj, 0, "status", "updatedReplicas") < integer(obj, 1, "spec", "replicas") {
			return inProgress(c.Reason, "spec.paused stops the rollout")
		}
	}
	if c := Condition(obj, "Progressing"); c.Reason == "ProgressDeadlineExceeded" {
		return hasFailed(c.Reason, c.Message)
	}
	// A quota, for example, keeps pods from being made: only this condition says so.
	if c := Condition(obj, "ReplicaFailure"); c.Status == "True" && integer(obj, 0, "status", "readyReplicas") < integer(obj, 1, "spec", "replicas") {
		return inProgress(cmp.Or(c.Reason, "ReplicaFailure"), c.Message)
	}
	return nil
}

// drained judges a workload that is scaled to no replicas.
func drained(obj *unstructured.Unstructured) *Verdict {
	if left := integer(obj, 0, "status", "replicas"); left > 0 {
		return inProgress("ExtraPods", fmt.Sprintf("%d replicas are still to be removed", left))
	}
	return isReady("0 replicas are wanted")
}

func statefulSetRule(obj *unstructured.Unstructured) *Verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	wanted := integer(obj, 1, "spec", "replicas")
	if wanted == 0 {
		return drained(obj)
	}
	if Text(obj, "spec", "updateStrategy", "type") != "OnDelete" {
		return nil
	}
	return allReady(wanted, integer(obj, 0, "status", "replicas"), integer(obj, 0, "status", "readyReplicas"))
}

func daemonSetRule(obj *unstructured.Unstructured) *Verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	if Text(obj, "spec", "updateStrategy", "type") != "OnDelete" {
		return nil
	}
	wanted := integer(obj, 0, "status", "desiredNumberScheduled")
	return allReady(wanted, integer(obj, 0, "status", "currentNumberScheduled"), integer(obj, 0, "status", "numberReady"))
}

func replicationControllerRule(obj *unstructured.Unstructured) *Verdict {
	if !observed(obj) {
		return notObserved(obj)
	}
	return allReady(integer(obj, 1, "spec", "replicas"), integer(obj, 0, "status", "replicas"), integer(obj, 0, "status", "readyReplicas"))
}

func allReady(wanted, there, ready int64) *Verdict {
	switch {
	case there > wanted:
		return inProgress("ExtraPods", fmt.Sprintf("%d replicas are still to be removed", there-wanted))
	case ready < wanted:
		return inProgress("LessReady", fmt.Sprintf("Ready: %d/%d", ready, wanted))
	default:
		return isReady(fmt.Sprintf("Ready: %d/%d", ready, wanted))
	}
}

func jobRule(obj *unstructured.Unstructured) *Verdict {
	if c := Condition(obj, "Failed"); c.Status == "True" {
		return hasFailed(cmp.Or(c.Reason, "JobFailed"), cmp.Or(c.Message, "the job has failed"))
	}
	succeeded := integer(obj, 0, "status", "succeeded")
	if c := Condition(obj, "Complete"); c.Status == "True" {
		return isReady(fmt.Sprintf("complete, %d succeeded", succeeded))
	}
	if suspended, _, _ := unstructured.NestedBool(obj.Object, "spec", "suspend"); suspended {
		return isReady("the job is suspended")
	}
	wanted := integer(obj, integer(obj, 1, "spec", "parallelism"), "spec", "completions")
	return inProgress("JobInProgress", fmt.Sprintf("succeeded: %d/%d, active: %d, failed: %d", succeeded, wanted,
		integer(obj, 0, "status", "active"), integer(obj, 0, "status", "failed")))
}

func podRule(obj *unstructured.Unstructured) *Verdict {
	phase := Text(obj, "status", "phase")
	switch phase {
	case "Succeeded":
		return isReady("the pod has completed")
	case "Failed":
		return hasFailed(cmp.Or(Text(obj, "status", "reason"), "PodFailed"), cmp.Or(Text(obj, "status", "message"), "the pod has failed"))
	}
	c := Condition(obj, "Ready")
	if phase == "Running" && c.Status == "True" {
		return isReady("the pod is ready")
	}
	if s := Condition(obj, "PodScheduled"); s.Status == "False" {
		c = s
	}
	return inProgress(cmp.Or(c.Reason, "PodNotReady"), cmp.Or(c.Message, "phase "+cmp.Or(phase, "unknown")))
}

func claimRule(obj *unstructured.Unstructured) *Verdict {
	switch phase := Text(obj, "status", "phase"); phase {
	case "Bound":
		return isReady("bound to " + Text(obj, "spec", "volumeName"))
	case "Lost":
		return hasFailed("Lost", fmt.Sprintf("the volume %q of the claim no longer exists", Text(obj, "spec", "volumeName")))
	default:
		return inProgress(ClaimNotBound, "phase "+cmp.Or(phase, "unknown"))
	}
}

// ClaimNotBound is the reason of a claim that may be waiting for its first consumer.
const ClaimNotBound = "NotBound"

func volumeRule(obj *unstructured.Unstructured) *Verdict {
	switch phase := Text(obj, "status", "phase"); phase {
	case "Available", "Bound":
		return isReady("phase " + phase)
	case "Failed":
		return hasFailed(cmp.Or(Text(obj, "status", "reason"), "Failed"), cmp.Or(Text(obj, "status", "message"), "the volume has failed"))
	case "Released":
		return inProgress(phase, "the volume still belongs to a claim that was deleted: remove spec.claimRef to use it again")
	default:
		return inProgress(cmp.Or(phase, "Pending"), "phase "+cmp.Or(phase, "unknown"))
	}
}

func namespaceRule(obj *unstructured.Unstructured) *Verdict {
	if phase := Text(obj, "status", "phase"); phase != "Active" {
		return inProgress(cmp.Or(phase, "Pending"), "phase "+cmp.Or(phase, "unknown"))
	}
	return isReady("active")
}

func apiServiceRule(obj *unstructured.Unstructured) *Verdict {
	c := Condition(obj, "Available")
	if c.Status != "True" {
		return inProgress(cmp.Or(c.Reason, "NotAvailable"), cmp.Or(c.Message, "the extension API server has not answered yet"))
	}
	return isReady("available")
}
