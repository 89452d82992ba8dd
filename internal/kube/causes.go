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

// maxBetween bounds the kinds that are listed to find out whose event one is.
const maxBetween = 5

var claimResource = Resource{
	GVK:        schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"},
	GVR:        schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"},
	Namespaced: true,
}

// causes attributes the events of one namespace to the objects that are explained: events of
// the object, of its pods that are not ready, of the claims for which these pods wait, and of
// what stands between the object and the pods that it does not get, such as a ReplicaSet.
type causes struct {
	tree ownerTree
	// owners are the objects that may have pods.
	owners map[types.UID]string
	// of says to which object the UID of another one belongs.
	of map[types.UID]types.UID
	// claims are those that are not bound, by the UID of the pod that waits for them.
	claims map[types.UID][]corev1.PersistentVolumeClaim
}

// addPods takes over the pods of an object that are not ready, and their claims.
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
// traced through their owners; a kind that cannot be listed has no events.
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

// ownerOf finds the explained object that owns another one, directly or not. Pods are known
// already, and the ready ones are of no interest.
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
	// Without the right to list claims the event of the pod is what is known.
	_, _ = listPages(ctx, c, listRequest{resource: claimResource, namespace: namespace}, func(claim *corev1.PersistentVolumeClaim) error {
		if claim.Status.Phase != corev1.ClaimBound {
			out[claim.Name] = *claim
		}
		return nil
	}, func() { clear(out) })
	return out
}

// claimsOf names the claims that a pod waits for; none once it has started.
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

// claimState says in which phase a claim is and which StorageClass it asks for.
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

// withoutSuffix replaces the names of pods that could not be made for an object. Each try has
// another name, and the message is reported once.
func withoutSuffix(message, name string) string {
	words := strings.Fields(message)
	for i, word := range words {
		if at := strings.Index(word, name+"-"); at >= 0 && name != "" {
			words[i] = word[:at] + name
		}
	}
	return strings.Join(words, " ")
}
