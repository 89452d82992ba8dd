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

// A heal replaces the pods that existed when it began. The operation records them before the first deletion: a StatefulSet recreates
// a pod under its old name, and a resumed heal must not replace it again.

// podReplacement are the pods of one VDU that a heal replaces.
type podReplacement struct {
	// Pods are the names of the pods by UID.
	Pods map[types.UID]string `json:"pods"`
	// Ready is the expected number of ready pods per controller after the heal. It is valid for this generation of the workload, since
	// a later one may have other controllers.
	Ready      map[types.UID]int `json:"ready,omitempty"`
	Generation int64             `json:"generation"`
	// Storage is set when the claims that a StatefulSet created for the pods are replaced too.
	Storage bool `json:"storage,omitempty"`
	// continued is set for a resumed heal.
	continued bool
}

// planReplacement returns the pods of a VDU that the heal replaces: the recorded ones of a resumed heal, else the selected ones.
func (s *session) planReplacement(ctx context.Context, v *vduPods, storage bool, selected func(*corev1.Pod) bool) (*podReplacement, error) {
	key := "replaced " + v.id
	if note := s.recorder.Note(key); note != "" {
		o := &podReplacement{continued: true}
		if err := json.Unmarshal([]byte(note), o); err != nil {
			return nil, fmt.Errorf("reading which VNFCs of VDU %s the heal replaces: %w", v.id, err)
		}
		return o, nil
	}
	o := &podReplacement{Pods: map[types.UID]string{}, Generation: v.workload.live.Generation, Storage: storage}
	for i := range v.pods {
		if selected(&v.pods[i]) {
			o.Pods[v.pods[i].UID] = v.pods[i].Name
		}
	}
	if len(o.Pods) == 0 {
		return o, nil
	}
	o.Ready = expectedReady(v.pods, o.Pods)
	note, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return o, s.recorder.SetNote(ctx, key, string(note))
}

// remaining returns the pods that have not been deleted yet.
func (o *podReplacement) remaining(v *vduPods) []corev1.Pod {
	var out []corev1.Pod
	for i := range v.pods {
		if _, goes := o.Pods[v.pods[i].UID]; goes {
			out = append(out, v.pods[i])
		}
	}
	return out
}

// replaceOneByOne replaces all pods of a VDU whose workload cannot replace them itself.
func (s *session) replaceOneByOne(ctx context.Context, v *vduPods, storage bool) error {
	o, err := s.planReplacement(ctx, v, storage, func(*corev1.Pod) bool { return true })
	if err != nil {
		return err
	}
	for _, pod := range o.remaining(v) {
		one := &podReplacement{Pods: map[types.UID]string{pod.UID: pod.Name}, Generation: o.Generation, Storage: o.Storage}
		one.Ready = expectedReady(v.pods, one.Pods)
		if err := s.replacePods(ctx, v, one, []corev1.Pod{pod}); err != nil {
			return err
		}
	}
	if !o.continued {
		return nil
	}
	return s.replacePods(ctx, v, o, nil)
}

// replacePods deletes the remaining pods concurrently and waits for their replacements.
func (s *session) replacePods(ctx context.Context, v *vduPods, o *podReplacement, remaining []corev1.Pod) error {
	switch {
	case len(o.Pods) == 0:
		return nil
	case isPod(v.workload) && len(remaining) > 0:
		return s.recreatePod(ctx, v.workload)
	case isPod(v.workload):
		return s.awaitWorkload(ctx, v.workload)
	}
	resource, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	err = s.each(ctx, len(remaining), true, func(ctx context.Context, i int) error {
		s.progress(ctx, "replacing pod %s/%s of VDU %s", remaining[i].Namespace, remaining[i].Name, v.id)
		if o.Storage {
			if err := s.deleteClaims(ctx, &remaining[i]); err != nil {
				return err
			}
		}
		return s.client.Delete(ctx, kube.Ref{Resource: resource, Namespace: remaining[i].Namespace, Name: remaining[i].Name}, kube.DeleteOptions{UID: remaining[i].UID})
	})
	if err != nil {
		return err
	}
	r := kube.Replacement{Namespace: v.workload.ref.Namespace, Old: o.Pods, Workloads: []kube.Ref{v.workload.ref}}
	same := o.Generation == v.workload.live.Generation
	// An autoscaler may reduce the number during the wait.
	if scaling := v.workload.object.Scaling; same && (scaling == nil || scaling.DriverOwned()) {
		r.Ready = o.Ready
	}
	if err := s.client.WaitReplaced(ctx, r, s.waitOptions(ctx, "")); err != nil || same {
		return err
	}
	return s.awaitWorkload(ctx, v.workload)
}

// deleteClaims deletes the claims that a StatefulSet created for a pod. Kubernetes removes them after the pod, and the StatefulSet
// creates new claims before the new pod.
func (s *session) deleteClaims(ctx context.Context, pod *corev1.Pod) error {
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.Kind != statefulSetKind.Kind {
		return nil
	}
	resource, err := s.client.Resource(ctx, claimKind)
	if err != nil {
		return err
	}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		// A StatefulSet gives its claims this name. Pods may share other claims.
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
func (s *session) awaitWorkload(ctx context.Context, p *targetObject) error {
	return s.client.WaitReady(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, instanceSelector(s.target.Instance.ID)))
}

// awaitWorkloads waits until workloads are ready. It starts from the state in which they were just read or written.
func (s *session) awaitWorkloads(ctx context.Context, all []*targetObject) error {
	var refs []kube.Ref
	options := s.waitOptions(ctx, instanceSelector(s.target.Instance.ID))
	options.Known = map[int]kube.Known{}
	for i, p := range all {
		refs = append(refs, p.ref)
		options.Known[i] = p.known()
	}
	return s.client.WaitReady(ctx, refs, options)
}

// expectedReady returns the number of ready pods to wait for per controller: the replaced pods and the pods that are ready now. Other
// unready pods may stay unready.
func expectedReady(pods []corev1.Pod, old map[types.UID]string) map[types.UID]int {
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

// recreatePod deletes a bare Pod and creates it again from the package.
func (s *session) recreatePod(ctx context.Context, p *targetObject) error {
	body := applyBody(p.object, s.target, p.ref.Namespace, nil)
	if _, err := s.replace(ctx, p, body); err != nil {
		return s.explainWrite(p, err)
	}
	return s.awaitWorkload(ctx, p)
}
