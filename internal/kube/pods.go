package kube

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ownerDepth bounds the levels of owners between a workload and its pods: an operator's resource, a
// Deployment, a ReplicaSet and some more.
const ownerDepth = 5

var podResource = Resource{
	GVK:        schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
	GVR:        schema.GroupVersionResource{Version: "v1", Resource: "pods"},
	Namespaced: true,
}

// PodsOf returns the pods of a namespace that belong, directly or through other objects, to one of
// the owners. The keys are the ids that owners has for the UIDs. Owner references decide, never
// names; a pod may be its own owner. It takes one LIST of the pods and one of each kind in between,
// usually ReplicaSets.
func (c *Client) PodsOf(ctx context.Context, namespace string, owners map[types.UID]string) (map[string][]corev1.Pod, error) {
	if len(owners) == 0 {
		return map[string][]corev1.Pod{}, nil
	}
	pods, err := c.ReadPods(ctx, namespace, nil)
	if err != nil {
		return nil, err
	}
	return pods.Of(ctx, owners)
}

// Pods are the pods of a namespace, with the objects read between them and their workloads.
type Pods struct {
	pods []corev1.Pod
	tree ownerTree
}

// ReadPods reads the pods of a namespace. kinds are the kinds of the owners that Of will get, none
// for any kind. The ReplicaSets of Deployments are listed concurrently.
func (c *Client) ReadPods(ctx context.Context, namespace string, kinds []schema.GroupKind) (*Pods, error) {
	out := &Pods{tree: newOwnerTree(c, namespace)}
	out.tree.builtIn = len(kinds) > 0 && !slices.ContainsFunc(kinds, func(gk schema.GroupKind) bool {
		return !slices.Contains(topControllers, gk) && !slices.Contains(ownedControllers, gk)
	})
	var between error
	var listing sync.WaitGroup
	defer listing.Wait()
	if slices.Contains(kinds, deploymentKind) {
		listing.Go(func() { between = out.tree.list(ctx, replicaSetKind) })
	}
	var err error
	if out.pods, err = c.listPods(ctx, namespace, ListOptions{}); err != nil {
		return nil, err
	}
	listing.Wait()
	return out, between
}

// Of returns the pods that belong to one of the owners, as PodsOf does.
func (p *Pods) Of(ctx context.Context, owners map[types.UID]string) (map[string][]corev1.Pod, error) {
	out := map[string][]corev1.Pod{}
	for _, pod := range p.pods {
		if id, ok := owners[pod.UID]; ok {
			out[id] = append(out[id], pod)
			continue
		}
		id, ok, err := p.tree.find(ctx, pod.OwnerReferences, owners, ownerDepth)
		if err != nil {
			return nil, err
		}
		if ok {
			out[id] = append(out[id], pod)
		}
	}
	return out, nil
}

func (c *Client) podsOf(ctx context.Context, tree *ownerTree, owners map[types.UID]string) (map[string][]corev1.Pod, error) {
	if len(owners) == 0 {
		return map[string][]corev1.Pod{}, nil
	}
	pods, err := c.listPods(ctx, tree.namespace, ListOptions{})
	if err != nil {
		return nil, err
	}
	return (&Pods{pods: pods, tree: *tree}).Of(ctx, owners)
}

func (c *Client) listPods(ctx context.Context, namespace string, o ListOptions) ([]corev1.Pod, error) {
	pods, _, err := listAll[corev1.Pod](ctx, c, listRequest{resource: podResource, namespace: namespace, options: o})
	return pods, err
}

// ownerTree reads the objects between workloads and pods, kind by kind, when an owner reference
// names the kind.
type ownerTree struct {
	client    *Client
	namespace string
	parents   map[types.UID][]metav1.OwnerReference
	listed    map[schema.GroupVersionKind]bool
	// builtIn is set if the owners to find are of Kubernetes' own kinds. Among the controllers of
	// pods, these own only ReplicaSets and Jobs.
	builtIn bool
}

var (
	deploymentKind = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	replicaSetKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
)

// topControllers are Kubernetes' own kinds with pods whose objects have no owner of these kinds;
// ownedControllers are the kinds whose objects may have one.
var (
	topControllers = []schema.GroupKind{
		deploymentKind, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"}, {Group: "batch", Kind: "CronJob"}, {Kind: "ReplicationController"},
	}
	ownedControllers = []schema.GroupKind{replicaSetKind.GroupKind(), {Group: "batch", Kind: "Job"}, {Kind: "Pod"}}
)

func newOwnerTree(c *Client, namespace string) ownerTree {
	return ownerTree{client: c, namespace: namespace, parents: map[types.UID][]metav1.OwnerReference{}, listed: map[schema.GroupVersionKind]bool{}}
}

func (t *ownerTree) find(ctx context.Context, refs []metav1.OwnerReference, owners map[types.UID]string, depth int) (string, bool, error) {
	for _, ref := range refs {
		if id, ok := owners[ref.UID]; ok {
			return id, true, nil
		}
	}
	if depth == 0 {
		return "", false, nil
	}
	for _, ref := range refs {
		if ref.Controller == nil || !*ref.Controller {
			continue
		}
		if err := t.list(ctx, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)); err != nil {
			return "", false, err
		}
		id, ok, err := t.find(ctx, t.parents[ref.UID], owners, depth-1)
		if ok || err != nil {
			return id, ok, err
		}
	}
	return "", false, nil
}

// list reads the owners of all objects of a kind. It skips a kind that cannot own a workload's pod
// or that may not be read.
func (t *ownerTree) list(ctx context.Context, gvk schema.GroupVersionKind) error {
	if t.listed[gvk] || gvk.Kind == "Node" && gvk.Group == "" {
		return nil
	}
	t.listed[gvk] = true
	if t.builtIn && slices.Contains(topControllers, gvk.GroupKind()) {
		return nil
	}
	resource, err := t.client.Resource(ctx, gvk)
	if isUnknownKind(err) {
		return nil
	}
	if err != nil {
		return err
	}
	items, err := t.client.ListMetadata(ctx, resource, t.namespace, ListOptions{})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range items {
		t.parents[items[i].UID] = items[i].OwnerReferences
	}
	return nil
}
