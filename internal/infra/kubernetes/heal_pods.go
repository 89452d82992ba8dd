package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// A heal replaces the pods that it found when it began. Which ones these are is kept
// with the operation before the first of them is deleted: a pod of a StatefulSet comes
// back under its old name, and a heal that is continued must leave it alone.

// outgoing are the pods of one VDU that a heal replaces.
type outgoing struct {
	// Pods are their names by their UIDs.
	Pods map[types.UID]string `json:"pods"`
	// Ready is how many ready pods each controller is to have in the end. It holds for
	// that generation of the workload: a later one may have other controllers.
	Ready      map[types.UID]int `json:"ready,omitempty"`
	Generation int64             `json:"generation"`
	// Storage says that the claims which a StatefulSet made for them go as well.
	Storage bool `json:"storage,omitempty"`
	// continued is set when the heal began earlier.
	continued bool
}

// outgoing returns the pods of a VDU that the heal has set out to replace: those that
// are chosen now, unless it is continued.
func (s *session) outgoing(ctx context.Context, v *populated, storage bool, chosen func(*corev1.Pod) bool) (*outgoing, error) {
	key := "replaced " + v.id
	if note := s.recorder.Note(key); note != "" {
		o := &outgoing{continued: true}
		if err := json.Unmarshal([]byte(note), o); err != nil {
			return nil, fmt.Errorf("reading which VNFCs of VDU %s the heal replaces: %w", v.id, err)
		}
		return o, nil
	}
	o := &outgoing{Pods: map[types.UID]string{}, Generation: v.workload.live.Generation, Storage: storage}
	for i := range v.pods {
		if chosen(&v.pods[i]) {
			o.Pods[v.pods[i].UID] = v.pods[i].Name
		}
	}
	if len(o.Pods) == 0 {
		return o, nil
	}
	o.Ready = expected(v.pods, o.Pods)
	note, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return o, s.recorder.SetNote(ctx, key, string(note))
}

// standing are the pods that have not been replaced yet.
func (o *outgoing) standing(v *populated) []corev1.Pod {
	var out []corev1.Pod
	for i := range v.pods {
		if _, goes := o.Pods[v.pods[i].UID]; goes {
			out = append(out, v.pods[i])
		}
	}
	return out
}

// replaceOneByOne replaces all pods of a VDU whose kind has no way to do it itself.
func (s *session) replaceOneByOne(ctx context.Context, v *populated, storage bool) error {
	o, err := s.outgoing(ctx, v, storage, func(*corev1.Pod) bool { return true })
	if err != nil {
		return err
	}
	for _, pod := range o.standing(v) {
		one := &outgoing{Pods: map[types.UID]string{pod.UID: pod.Name}, Generation: o.Generation, Storage: o.Storage}
		one.Ready = expected(v.pods, one.Pods)
		if err := s.replacePods(ctx, v, one, []corev1.Pod{pod}); err != nil {
			return err
		}
	}
	if !o.continued {
		return nil
	}
	return s.replacePods(ctx, v, o, nil)
}

// replacePods deletes those pods of the outgoing ones that still stand, at the same
// time, and waits for the new ones.
func (s *session) replacePods(ctx context.Context, v *populated, o *outgoing, standing []corev1.Pod) error {
	switch {
	case len(o.Pods) == 0:
		return nil
	case isPod(v.workload) && len(standing) > 0:
		return s.remake(ctx, v.workload)
	case isPod(v.workload):
		return s.awaitWorkload(ctx, v.workload)
	}
	resource, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	err = s.each(ctx, len(standing), true, func(ctx context.Context, i int) error {
		s.progress(ctx, "replacing pod %s/%s of VDU %s", standing[i].Namespace, standing[i].Name, v.id)
		if o.Storage {
			if err := s.deleteClaims(ctx, &standing[i]); err != nil {
				return err
			}
		}
		return s.client.Delete(ctx, kube.Ref{Resource: resource, Namespace: standing[i].Namespace, Name: standing[i].Name}, kube.DeleteOptions{UID: standing[i].UID})
	})
	if err != nil {
		return err
	}
	r := kube.Replacement{Namespace: v.workload.ref.Namespace, Old: o.Pods, Workloads: []kube.Ref{v.workload.ref}}
	same := o.Generation == v.workload.live.Generation
	// An autoscaler may want fewer meanwhile.
	if scaling := v.workload.object.scaling; same && (scaling == nil || scaling.ours()) {
		r.Ready = o.Ready
	}
	if err := s.client.WaitReplaced(ctx, r, s.waitOptions(ctx, "")); err != nil || same {
		return err
	}
	return s.awaitWorkload(ctx, v.workload)
}

// deleteClaims deletes the claims that a StatefulSet has made for a pod. They go once the
// pod is gone, and the StatefulSet makes no pod before it has made new ones.
func (s *session) deleteClaims(ctx context.Context, pod *corev1.Pod) error {
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.Kind != setKind.Kind {
		return nil
	}
	resource, err := s.client.Resource(ctx, claimKind)
	if err != nil {
		return err
	}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		// The name by which a StatefulSet makes a claim of a template; others are shared.
		if volume.PersistentVolumeClaim == nil || volume.PersistentVolumeClaim.ClaimName != volume.Name+"-"+pod.Name {
			continue
		}
		if err := s.client.Delete(ctx, kube.Ref{Resource: resource, Namespace: pod.Namespace, Name: volume.PersistentVolumeClaim.ClaimName}, kube.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// awaitWorkload waits until a workload is ready.
func (s *session) awaitWorkload(ctx context.Context, p *placement) error {
	return s.client.WaitReady(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, instanceSelector(s.target.Instance.ID)))
}

// expected is how many ready pods each controller has in the end: one for each that
// is replaced, and those that are ready now. Others that are not are no reason to wait.
func expected(pods []corev1.Pod, old map[types.UID]string) map[types.UID]int {
	out := map[types.UID]int{}
	for i := range pods {
		owner := metav1.GetControllerOf(&pods[i])
		if owner == nil {
			continue
		}
		if _, goes := old[pods[i].UID]; goes || podIsReady(&pods[i]) {
			out[owner.UID]++
		}
	}
	return out
}

// remake deletes a bare Pod and makes it anew from the package.
func (s *session) remake(ctx context.Context, p *placement) error {
	body := p.object.body(s.target, p.ref.Namespace, nil)
	if _, err := s.replace(ctx, p, body, kube.ApplyOptions{}); err != nil {
		return s.explainWrite(p, err)
	}
	return s.awaitWorkload(ctx, p)
}
