package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// The Secret by which Cluster API and its users reach a workload cluster.
const (
	kubeconfigSuffix = "-kubeconfig"
	kubeconfigKey    = "value"
	kubeconfigType   = corev1.SecretType("cluster.x-k8s.io/secret")
	labelClusterName = "cluster.x-k8s.io/cluster-name"
	kindControlPlane = "LabControlPlane"
	workloadsManager = "lab-workloads"
	defaultReplicas  = int64(1)
)

// controlPlane starts the lab of a LabControlPlane and tells Cluster API of it. Version and replicas are reported as they
// are asked for: the lab itself stays what it is.
func (w *workloads) controlPlane(ctx context.Context, object *unstructured.Unstructured) (time.Duration, error) {
	resource := resourceOf(groupControlPlane, "labcontrolplanes")
	if object.GetDeletionTimestamp() != nil {
		if err := w.labs.Down(ctx, string(object.GetUID())); err != nil {
			return 0, err
		}
		return 0, w.finalize(ctx, resource, object, false)
	}
	owner, err := w.ownerCluster(ctx, object)
	if err != nil || owner == nil || leftAlone(object, owner) {
		return waitFor(owner, err)
	}
	if provisioned, _, _ := unstructured.NestedBool(owner.Object, "status", "initialization", "infrastructureProvisioned"); !provisioned {
		return again, nil
	}
	if err := w.finalize(ctx, resource, object, true); err != nil {
		return 0, err
	}
	workload, err := w.labs.Up(ctx, string(object.GetUID()))
	if err != nil {
		return 0, fmt.Errorf("starting its lab: %w", err)
	}
	changed := object.DeepCopy()
	at := map[string]any{"host": workload.Host, "port": workload.Port}
	if err := unstructured.SetNestedMap(changed.Object, at, "spec", "controlPlaneEndpoint"); err != nil {
		return 0, fmt.Errorf("writing its endpoint: %w", err)
	}
	if err := w.update(ctx, resource, object, changed); err != nil {
		return 0, err
	}
	if err := w.publish(ctx, object, owner.GetName(), workload); err != nil {
		return 0, err
	}
	return 0, w.report(ctx, resource, object, controlPlaneStatus(object))
}

func controlPlaneStatus(object *unstructured.Unstructured) map[string]any {
	version, _, _ := unstructured.NestedString(object.Object, "spec", "version")
	replicas, asked, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !asked {
		replicas = defaultReplicas
	}
	return map[string]any{
		"initialization": map[string]any{"controlPlaneInitialized": true},
		// Its machines are nobody's business: there are none.
		"externalManagedControlPlane": true,
		"version":                     version,
		"replicas":                    replicas,
		"readyReplicas":               replicas,
		"availableReplicas":           replicas,
		"upToDateReplicas":            replicas,
		"observedGeneration":          object.GetGeneration(),
		"conditions":                  []any{condition(object, "Available")},
	}
}

// publish writes the kubeconfig where Cluster API looks for it.
func (w *workloads) publish(ctx context.Context, object *unstructured.Unstructured, cluster string, workload *Workload) error {
	name := cluster + kubeconfigSuffix
	secret := corev1ac.Secret(name, object.GetNamespace()).
		WithLabels(map[string]string{labelClusterName: cluster}).
		WithType(kubeconfigType).
		WithData(map[string][]byte{kubeconfigKey: workload.Kubeconfig}).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(object.GetAPIVersion()).WithKind(kindControlPlane).
			WithName(object.GetName()).WithUID(object.GetUID()).WithController(true))
	_, err := w.client.CoreV1().Secrets(object.GetNamespace()).Apply(ctx, secret, metav1.ApplyOptions{FieldManager: workloadsManager, Force: true})
	if err != nil {
		return fmt.Errorf("writing Secret %s: %w", name, err)
	}
	return nil
}
