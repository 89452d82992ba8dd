package controllers

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
)

// Definitions are the manifests of the kinds that RunWorkloads attends to.
//
//go:embed definitions.yaml
var Definitions []byte

// HoldAnnotation keeps an object of the lab's providers as it is: a machine that never comes up, a control plane that is
// never there. It may be set, and taken away, at any time.
const HoldAnnotation = "lab.vnf/hold"

// finalizer keeps an object until what stands behind it is gone.
const finalizer = "lab.vnf/workload"

// again is when an object is looked at once more that waits for another one.
const again = time.Second

// versionContract is the version of the kinds of Cluster API that the providers read and fulfil.
const versionContract = "v1beta2"

const annotationPaused = "cluster.x-k8s.io/paused"

// The kinds of Cluster API and of the lab's providers.
func resourceOf(group, plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: versionContract, Resource: plural}
}

const (
	groupCore           = "cluster.x-k8s.io"
	groupInfrastructure = "infrastructure.cluster.x-k8s.io"
	groupControlPlane   = "controlplane.cluster.x-k8s.io"
	groupBootstrap      = "bootstrap.cluster.x-k8s.io"
)

// Workload is the lab that a control plane of Cluster API stands for.
type Workload struct {
	Host string
	Port int64
	// Kubeconfig has all rights.
	Kubeconfig []byte
}

// Labs starts and stops the labs of control planes. An id never comes back once it was stopped.
type Labs interface {
	Up(ctx context.Context, id string) (*Workload, error)
	Down(ctx context.Context, id string) error
}

// workloads are the lab's providers for Cluster API.
type workloads struct {
	client kubernetes.Interface
	object dynamic.Interface
	labs   Labs
	// numbering lets one node at a time look for a free index.
	numbering sync.Mutex
}

// RunWorkloads runs the controllers of the lab's kinds for Cluster API until ctx ends.
func RunWorkloads(ctx context.Context, client kubernetes.Interface, object dynamic.Interface, labs Labs, log *slog.Logger) error {
	w := &workloads{client: client, object: object, labs: labs}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(object, 0)
	var loops []*loop
	for _, kind := range []struct {
		resource  schema.GroupVersionResource
		reconcile func(context.Context, *unstructured.Unstructured) (time.Duration, error)
	}{
		{resourceOf(groupInfrastructure, "labclusters"), w.cluster},
		{resourceOf(groupInfrastructure, "labmachines"), w.machine},
		{resourceOf(groupBootstrap, "labconfigs"), w.config},
		{resourceOf(groupControlPlane, "labcontrolplanes"), w.controlPlane},
	} {
		informer := factory.ForResource(kind.resource)
		loop := newLoop(kind.resource.Resource, log, func(ctx context.Context, namespace, name string) (time.Duration, error) {
			// Read afresh: a status that was just written may not have come back yet.
			object, err := object.Resource(kind.resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return 0, nil
			}
			if err != nil {
				return 0, fmt.Errorf("reading it: %w", err)
			}
			return kind.reconcile(ctx, object)
		})
		if _, err := informer.Informer().AddEventHandler(loop.enqueue()); err != nil {
			return fmt.Errorf("watching %s: %w", kind.resource.Resource, err)
		}
		loops = append(loops, loop)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()

	group, ctx := errgroup.WithContext(ctx)
	for _, loop := range loops {
		group.Go(func() error { loop.run(ctx); return nil })
	}
	return group.Wait()
}

// cluster reports a LabCluster as provisioned: there is nothing to provision.
func (w *workloads) cluster(ctx context.Context, object *unstructured.Unstructured) (time.Duration, error) {
	owner, err := w.ownerCluster(ctx, object)
	if err != nil || owner == nil || leftAlone(object, owner) {
		return waitFor(owner, err)
	}
	return 0, w.report(ctx, resourceOf(groupInfrastructure, "labclusters"), object, map[string]any{
		"initialization": map[string]any{"provisioned": true},
		"conditions":     []any{condition(object, "Ready")},
	})
}

// noBootstrap is the name of the Secret that a node of a lab would read to join: it reads none.
const noBootstrap = "none"

// config reports a LabConfig as done: there is nothing to do.
func (w *workloads) config(ctx context.Context, object *unstructured.Unstructured) (time.Duration, error) {
	owner, err := w.owner(ctx, object, "Machine", "machines")
	if err != nil || owner == nil {
		return 0, err
	}
	return 0, w.report(ctx, resourceOf(groupBootstrap, "labconfigs"), object, map[string]any{
		"initialization": map[string]any{"dataSecretCreated": true},
		"dataSecretName": noBootstrap,
		"conditions":     []any{condition(object, "Ready")},
	})
}

// waitFor is what a reconciliation returns when the cluster of an object is missing, paused or held.
func waitFor(owner *unstructured.Unstructured, err error) (time.Duration, error) {
	if err != nil || owner == nil {
		// Core sets the owner: that is an event of the object itself.
		return 0, err
	}
	return again, nil
}

// leftAlone tells whether an object is paused or held.
func leftAlone(object, cluster *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused")
	annotations := object.GetAnnotations()
	_, alone := annotations[annotationPaused]
	_, held := annotations[HoldAnnotation]
	return paused || alone || held
}

// owner reads the object of a kind of core that owns another one; nil when there is none yet.
func (w *workloads) owner(ctx context.Context, object *unstructured.Unstructured, kind, plural string) (*unstructured.Unstructured, error) {
	for _, reference := range object.GetOwnerReferences() {
		if reference.Kind != kind {
			continue
		}
		owner, err := w.object.Resource(resourceOf(groupCore, plural)).Namespace(object.GetNamespace()).Get(ctx, reference.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // There is none any more.
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", kind, reference.Name, err)
		}
		return owner, nil
	}
	return nil, nil //nolint:nilnil // There is none yet.
}

func (w *workloads) ownerCluster(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return w.owner(ctx, object, "Cluster", "clusters")
}

// report writes those fields of the status that are not as they should be.
func (w *workloads) report(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, status map[string]any) error {
	live, _, _ := unstructured.NestedMap(object.Object, "status")
	if equality.Semantic.DeepEqual(live, status) {
		return nil
	}
	changed := object.DeepCopy()
	changed.Object["status"] = status
	if _, err := w.object.Resource(resource).Namespace(object.GetNamespace()).UpdateStatus(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing its status: %w", err)
	}
	return nil
}

// condition is a condition that holds. It keeps the time of one that held before.
func condition(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	since := metav1.Now().UTC().Format(time.RFC3339)
	for _, each := range conditions {
		if old, ok := each.(map[string]any); ok && old["type"] == kind {
			since, _ = old["lastTransitionTime"].(string)
		}
	}
	return map[string]any{
		"type": kind, "status": "True", "reason": kind, "message": "",
		"lastTransitionTime": since, "observedGeneration": object.GetGeneration(),
	}
}

// finalize adds the finalizer to an object, or removes it.
func (w *workloads) finalize(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, keep bool) error {
	finalizers := object.GetFinalizers()
	if slices.Contains(finalizers, finalizer) == keep {
		return nil
	}
	changed := object.DeepCopy()
	if keep {
		changed.SetFinalizers(append(finalizers, finalizer))
	} else {
		changed.SetFinalizers(slices.DeleteFunc(finalizers, func(name string) bool { return name == finalizer }))
	}
	return w.update(ctx, resource, object, changed)
}

// update writes an object and takes over what the server makes of it.
func (w *workloads) update(ctx context.Context, resource schema.GroupVersionResource, object, changed *unstructured.Unstructured) error {
	written, err := w.object.Resource(resource).Namespace(object.GetNamespace()).Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("writing it: %w", err)
	}
	object.Object = written.Object
	return nil
}
