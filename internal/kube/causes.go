package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// maxBetween bounds the kinds listed to trace the object of an event to its owner.
const maxBetween = 5

var claimResource = Resource{
	GVK:        schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"},
	GVR:        schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"},
	Namespaced: true,
}

// causes attributes the events of one namespace to the explained objects. An event may be about
// such an object, about one of its pods that are not ready, about a claim that such a pod waits
// for, or about an object between it and its missing pods, such as a ReplicaSet.
type causes struct {
	tree ownerTree
	// owners are the objects that may have pods.
	owners map[types.UID]string
	// of maps the UID of another object to the UID of the explained object that it belongs to.
	of map[types.UID]types.UID
	// claims are the unbound claims, by the UID of the pod that waits for them.
	claims map[types.UID][]corev1.PersistentVolumeClaim
}

// addPods records the pods of an object that are not ready, and their unbound claims.
func (c *causes) addPods(uid types.UID, pods []corev1.Pod, unbound map[string]corev1.PersistentVolumeClaim) {
	for i := range pods {
		pod := &pods[i]
		if podReady(pod) {
			continue
		}
		c.of[pod.UID] = uid
		for _, name := range claimsOf(pod) {
			if claim, ok := unbound[name]; ok {
				c.of[claim.UID] = uid
				c.claims[pod.UID] = append(c.claims[pod.UID], claim)
			}
		}
	}
}

// attribute groups events by the object that they explain. Warnings about unknown objects are
// traced through their owners, unless their kind cannot be listed.
func (c *causes) attribute(ctx context.Context, events []corev1.Event) map[types.UID][]corev1.Event {
	out := map[types.UID][]corev1.Event{}
	for i := range events {
		about := &events[i].InvolvedObject
		uid, known := c.of[about.UID]
		if !known && events[i].Type == corev1.EventTypeWarning {
			uid, known = c.ownerOf(ctx, about)
			if known {
				c.of[about.UID] = uid
			}
		}
		if known {
			out[uid] = append(out[uid], events[i])
		}
	}
	return out
}

// ownerOf finds the explained object that owns another one, directly or not. It skips pods: the
// unready ones are recorded already, and the ready ones explain nothing.
func (c *causes) ownerOf(ctx context.Context, about *corev1.ObjectReference) (types.UID, bool) {
	gvk := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind)
	if len(c.owners) == 0 || about.UID == "" || gvk.Kind == podResource.GVK.Kind || !mayHavePods(gvk) {
		return "", false
	}
	if !c.tree.listed[gvk] && len(c.tree.listed) >= maxBetween {
		return "", false
	}
	if c.tree.list(ctx, gvk) != nil {
		return "", false
	}
	uid, ok, err := c.tree.find(ctx, c.tree.parents[about.UID], c.owners, ownerDepth)
	return types.UID(uid), ok && err == nil
}

// unboundClaims returns the claims that are not bound, by name, if one of the pods waits for a claim.
func (c *Client) unboundClaims(ctx context.Context, namespace string, pods map[string][]corev1.Pod) map[string]corev1.PersistentVolumeClaim {
	waiting := false
	for _, list := range pods {
		waiting = waiting || slices.ContainsFunc(list, func(pod corev1.Pod) bool { return len(claimsOf(&pod)) > 0 })
	}
	if !waiting {
		return nil
	}
	out := map[string]corev1.PersistentVolumeClaim{}
	// Without the right to list claims, the diagnosis has the events of the pod alone.
	_, _ = listPages(ctx, c, listRequest{resource: claimResource, namespace: namespace}, func(claim *corev1.PersistentVolumeClaim) error {
		if claim.Status.Phase != corev1.ClaimBound {
			out[claim.Name] = *claim
		}
		return nil
	}, func() { clear(out) })
	return out
}

// claimsOf names the claims that a pending pod waits for; nil once the pod has started.
func claimsOf(pod *corev1.Pod) []string {
	if pod.Status.Phase != corev1.PodPending {
		return nil
	}
	var names []string
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	return names
}

// claimState describes the phase of a claim and its StorageClass.
func claimState(claim *corev1.PersistentVolumeClaim) string {
	text := "claim " + claim.Name + ": " + cmp.Or(string(claim.Status.Phase), "phase unknown")
	switch class := claim.Spec.StorageClassName; {
	case class == nil:
		return text + ", it names no StorageClass, and the cluster has no default one"
	case *class == "":
		return text + ", it asks for a volume without StorageClass"
	default:
		return text + ", StorageClass " + *class
	}
}

// withoutSuffix cuts the random suffix off the names of pods that could not be created for an
// object. Each attempt has a new name, and the message is reported once.
func withoutSuffix(message, name string) string {
	words := strings.Fields(message)
	for i, word := range words {
		if at := strings.Index(word, name+"-"); at >= 0 && name != "" {
			words[i] = word[:at] + name
		}
	}
	return strings.Join(words, " ")
}
