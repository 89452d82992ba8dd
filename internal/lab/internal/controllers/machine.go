package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/nodes"
)

// machine registers a node for a LabMachine with the API server of its cluster.
func (w *workloads) machine(ctx context.Context, object *unstructured.Unstructured) (time.Duration, error) {
	resource := resourceOf(groupInfrastructure, "labmachines")
	if object.GetDeletionTimestamp() != nil {
		if err := w.removeNode(ctx, object); err != nil {
			return 0, err
		}
		return 0, w.finalize(ctx, resource, object, false)
	}
	machine, err := w.owner(ctx, object, "Machine", "machines")
	if err != nil || machine == nil {
		return 0, err
	}
	name, _, _ := unstructured.NestedString(machine.Object, "spec", "clusterName")
	cluster, err := w.object.Resource(resourceOf(groupCore, "clusters")).Namespace(object.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("reading Cluster %s: %w", name, err)
	}
	initialized, _, _ := unstructured.NestedBool(cluster.Object, "status", "initialization", "controlPlaneInitialized")
	bootstrap, _, _ := unstructured.NestedString(machine.Object, "spec", "bootstrap", "dataSecretName")
	if !initialized || bootstrap == "" || leftAlone(object, cluster) {
		return again, nil
	}
	if err := w.finalize(ctx, resource, object, true); err != nil {
		return 0, err
	}
	version, _, _ := unstructured.NestedString(machine.Object, "spec", "version")
	provider := "lab://" + object.GetNamespace() + "/" + object.GetName()
	if err := w.addNode(ctx, object, name, nodes.Node{Name: object.GetName(), Version: version, ProviderID: provider}); err != nil {
		return 0, err
	}
	changed := object.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, provider, "spec", "providerID"); err != nil {
		return 0, fmt.Errorf("writing its provider id: %w", err)
	}
	if err := w.update(ctx, resource, object, changed); err != nil {
		return 0, err
	}
	return 0, w.report(ctx, resource, object, map[string]any{
		"initialization": map[string]any{"provisioned": true},
		"addresses":      []any{map[string]any{"type": "InternalIP", "address": "127.0.0.1"}},
		"conditions":     []any{condition(object, "Ready")},
	})
}

// addNode makes the node with the first index that no other node has.
func (w *workloads) addNode(ctx context.Context, object *unstructured.Unstructured, cluster string, node nodes.Node) error {
	client, err := w.workload(ctx, object.GetNamespace(), cluster)
	if err != nil {
		return err
	}
	w.numbering.Lock()
	defer w.numbering.Unlock()
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the nodes of cluster %s: %w", cluster, err)
	}
	taken := map[string]bool{}
	for _, other := range list.Items {
		if other.Name == node.Name {
			return nil
		}
		taken[other.Spec.PodCIDR] = true
	}
	for node.Index = range nodes.Max {
		if !taken[nodes.PodRange(node.Index)] {
			return nodes.Ensure(ctx, client, node)
		}
	}
	return fmt.Errorf("cluster %s has %d nodes: there is no range of pod addresses for another one", cluster, nodes.Max)
}

// removeNode deletes the node of a machine, unless its cluster has gone.
func (w *workloads) removeNode(ctx context.Context, object *unstructured.Unstructured) error {
	cluster := object.GetLabels()[labelClusterName]
	client, err := w.workload(ctx, object.GetNamespace(), cluster)
	if errors.Is(err, errNoKubeconfig) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := client.CoreV1().Nodes().Delete(ctx, object.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting node %s of cluster %s: %w", object.GetName(), cluster, err)
	}
	return nil
}

// errNoKubeconfig says that a cluster has no control plane, not yet or not any more.
var errNoKubeconfig = errors.New("there is no kubeconfig")

// workload is a client of a workload cluster.
func (w *workloads) workload(ctx context.Context, namespace, cluster string) (kubernetes.Interface, error) {
	secret, err := w.client.CoreV1().Secrets(namespace).Get(ctx, cluster+kubeconfigSuffix, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w of cluster %s", errNoKubeconfig, cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of cluster %s: %w", cluster, err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[kubeconfigKey])
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of cluster %s: %w", cluster, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of cluster %s: %w", cluster, err)
	}
	return client, nil
}
