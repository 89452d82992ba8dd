package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// A ReplicaSet and a ReplicationController keep their pods when their template changes. An apply replaces these pods one by one. An
// annotation of a pod holds the digest of its template, so an apply can continue an interrupted one without a record.

// replaceOutdated replaces outdated pods of workloads that keep their pods. It replaces them one by one, unready pods first, and waits
// until each successor is ready.
func (s *session) replaceOutdated(ctx context.Context, target []*targetObject) error {
	for _, p := range target {
		if p.object == nil || p.live == nil || p.shared || !render.KeepsPods(gvkOf(&p.item).GroupKind()) {
			continue
		}
		if err := s.replaceOutdatedOf(ctx, p); err != nil {
			return fmt.Errorf("replacing the pods of %s: %w", p, err)
		}
	}
	return nil
}

func (s *session) replaceOutdatedOf(ctx context.Context, p *targetObject) error {
	p.listed = "" // The wait has to list the object again after the replacement.
	resource, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	for {
		byOwner, err := s.client.PodsOf(ctx, p.ref.Namespace, map[types.UID]string{p.live.UID: p.item.Key})
		if err != nil {
			return err
		}
		pods := byOwner[p.item.Key]
		if err := s.markPods(ctx, p, resource, pods); err != nil {
			return err
		}
		pod := firstOutdated(p, pods)
		if pod == nil {
			return nil
		}
		s.progress(ctx, "replacing pod %s/%s of %s, which has another template now", pod.Namespace, pod.Name, p)
		ref := kube.Ref{Resource: resource, Namespace: pod.Namespace, Name: pod.Name}
		if err := s.client.Delete(ctx, ref, kube.DeleteOptions{UID: pod.UID}); err != nil {
			return err
		}
		r := kube.Replacement{Namespace: pod.Namespace, Old: map[types.UID]string{pod.UID: pod.Name}, Workloads: []kube.Ref{p.ref}}
		// An autoscaler may reduce the number during the wait.
		if scaling := p.object.Scaling; scaling == nil || scaling.DriverOwned() {
			r.Ready = readyAfter(p, pods, r.Old)
		}
		if err := s.client.WaitReplaced(ctx, r, s.waitOptions(ctx, "")); err != nil {
			return err
		}
	}
}

// readyAfter returns the number of ready pods to wait for after the replacement of a pod. It is at most the desired count, because the
// workload may have more ready pods now.
func readyAfter(p *targetObject, pods []corev1.Pod, old map[types.UID]string) map[types.UID]int {
	ready := expectedReady(pods, old)
	if scaling := p.object.Scaling; scaling != nil {
		ready[p.live.UID] = min(ready[p.live.UID], int(scaling.Count))
	}
	return ready
}

// markPods marks pods that are older than the first apply of their workload. The template has not changed since, so they get its mark.
func (s *session) markPods(ctx context.Context, p *targetObject, resource kube.Resource, pods []corev1.Pod) error {
	mark, ok := p.mark()
	if !ok || !p.unmarked {
		return nil
	}
	return s.each(ctx, len(pods), false, func(ctx context.Context, i int) error {
		if _, marked := pods[i].Annotations[render.AnnotationTemplate]; marked {
			return nil
		}
		ref := kube.Ref{Resource: resource, Namespace: pods[i].Namespace, Name: pods[i].Name}
		if err := s.client.PatchMetadata(ctx, ref, nil, map[string]*string{render.AnnotationTemplate: &mark}); err != nil {
			return err
		}
		pods[i].Annotations = map[string]string{render.AnnotationTemplate: mark}
		return nil
	})
}

// mark returns the digest of the pod template of the target.
func (p *targetObject) mark() (string, bool) {
	mark, ok := p.object.Field("spec", "template", "metadata", "annotations", render.AnnotationTemplate).(string)
	return mark, ok
}

// firstOutdated returns the next pod to replace, nil if no pod has another template.
func firstOutdated(p *targetObject, pods []corev1.Pod) *corev1.Pod {
	mark, ok := p.mark()
	if !ok {
		return nil
	}
	var first *corev1.Pod
	for i := range pods {
		if pods[i].DeletionTimestamp != nil || pods[i].Annotations[render.AnnotationTemplate] == mark {
			continue
		}
		if first == nil || podIsReady(first) && !podIsReady(&pods[i]) {
			first = &pods[i]
		}
	}
	return first
}

// templateDigest returns the digest of the live pod template, without the marks of the driver.
func templateDigest(obj *unstructured.Unstructured) string {
	template, _, err := unstructured.NestedMap(obj.Object, "spec", "template")
	if err != nil {
		return ""
	}
	annotations, _, _ := unstructured.NestedMap(template, "metadata", "annotations")
	for _, mark := range []string{render.AnnotationTemplate, render.AnnotationConfiguration} {
		delete(annotations, mark)
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	unstructured.RemoveNestedField(template, "metadata", "annotations")
	text, err := json.Marshal([]any{template, annotations})
	if err != nil || len(template) == 0 {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
