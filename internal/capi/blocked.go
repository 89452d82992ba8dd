package capi

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// blocked returns a final error if Cluster API takes no further action on a Cluster, so that waiting is useless.
func (c *cluster) blocked(ctx context.Context, own *unstructured.Unstructured) error {
	switch {
	case own == nil:
		return nil
	case isPaused(own):
		return &pausedError{objectName(own)}
	case c.lacksClass(ctx, own):
		t := c.spec.Topology
		return &classError{object: objectName(own), class: cmp.Or(t.ClassNamespace, c.namespace) + "/" + t.Class}
	}
	return nil
}

// pausedError ends an operation on a cluster that another owner has paused: Cluster API does not reconcile it.
type pausedError struct{ object string }

func (*pausedError) isFinal() {}

func (e *pausedError) Error() string {
	return fmt.Sprintf("%s is paused by somebody else, and Cluster API changes nothing of a paused cluster; resume it and apply again, "+
		"or set paused = false with force_conflicts = true, which ends the pause, or paused = true, with which an apply does not wait", e.object)
}

// classError ends an operation on a cluster whose ClusterClass does not exist.
type classError struct{ object, class string }

func (*classError) isFinal() {}

func (e *classError) Error() string {
	return fmt.Sprintf("%s waits for ClusterClass %s, which does not exist: check topology.class and topology.class_namespace, or create the class and apply again; "+
		"a class of the same configuration needs depends_on in the cluster", e.object, e.class)
}

// lacksClass reports whether the topology of a Cluster is not reconciled because its class does not exist.
func (c *cluster) lacksClass(ctx context.Context, own *unstructured.Unstructured) bool {
	if c.spec.Topology == nil {
		return false
	}
	reconciled := readiness.ClusterCondition(own, clusterv1.ClusterTopologyReconciledCondition)
	return reconciled.Status == "False" && reconciled.Reason == clusterv1.ClusterTopologyReconciledFailedReason && c.cloudCluster().ClassIsMissing(ctx)
}

// undeletableError ends the removal of a Cluster that Cluster API cannot annotate with okToDelete.
type undeletableError struct{ object, reason string }

func (*undeletableError) isFinal() {}

func (e *undeletableError) Error() string {
	return fmt.Sprintf("%s is being deleted, and Cluster API cannot go on: its own admission refuses the Cluster as its ClusterClass is now; "+
		"correct the class, for example give a variable that it requires a default, then destroy again. Cluster API says: %s", e.object, e.reason)
}

const (
	// okToDelete is the annotation with which Cluster API begins a deletion.
	okToDelete = "runtime.cluster.x-k8s.io/ok-to-delete"
	// denied is part of the message of each rejection by an admission webhook.
	denied = "denied the request"
	// checkManager is the field manager of a dry run, which stores nothing.
	checkManager = kube.FieldManager + "-check"
)

// undeletable returns a final error if a Cluster that is being deleted is no longer valid for its class: Cluster API has to
// annotate the Cluster before it deletes anything else. The condition may be older than the class, so a dry run asks again.
func (c *cluster) undeletable(ctx context.Context, ref kube.Ref, own *unstructured.Unstructured) error {
	reconciled := readiness.ClusterCondition(own, clusterv1.ClusterTopologyReconciledCondition)
	if own.GetDeletionTimestamp() == nil || reconciled.Reason != clusterv1.ClusterTopologyReconciledFailedReason ||
		reconciled.Generation < own.GetGeneration() || !strings.Contains(reconciled.Message, denied) {
		return nil
	}
	metadata := map[string]any{"name": own.GetName(), "namespace": own.GetNamespace(), "annotations": map[string]any{okToDelete: ""}}
	_, err := c.client.Apply(ctx, ref, map[string]any{"apiVersion": own.GetAPIVersion(), "kind": own.GetKind(), "metadata": metadata},
		kube.ApplyOptions{FieldManager: checkManager, Force: true, DryRun: true})
	if err == nil || !strings.Contains(err.Error(), denied) {
		return nil
	}
	return &undeletableError{objectName(own), readiness.OneLine(reconciled.Message)}
}

// isPaused reports whether the specification or an annotation pauses a Cluster.
func isPaused(own *unstructured.Unstructured) bool {
	_, annotated := own.GetAnnotations()[clusterv1.PausedAnnotation]
	paused, _, _ := unstructured.NestedBool(own.Object, "spec", "paused")
	return paused || annotated
}
