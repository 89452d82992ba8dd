package kubernetes

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A pod template contains the digest of the ConfigMaps and Secrets that its pods read. Adding the digest to the template of a
// workload that is taken over would replace pods although the content is the same. While the content stays, the driver therefore
// writes the digest to an annotation of the workload. When the content changes, the template gets the digest.

// annotationConfigurationRead is set on a workload that was taken over. It holds the digest of
// the ConfigMaps and Secrets that its pods read, which is not in the pod template.
const annotationConfigurationRead = vnfm.LabelPrefix + "configuration-read"

// rollsOut are the kinds whose pods are replaced when their template gets the digest.
var rollsOut = []string{"DaemonSet", "Deployment", "StatefulSet"}

// adoptedConfiguration are the ConfigMaps and Secrets that were taken over in this call and had
// the content of the target.
type adoptedConfiguration struct {
	mu        sync.Mutex
	unchanged map[render.Identity]bool
}

// isForeign reports whether an object exists and is not the instance's yet.
func (s *session) isForeign(p *targetObject) bool { return p.live != nil && !s.belongs(p) }

// beforeAdoption reads a ConfigMap or Secret that is going to be taken over. It returns nil for other objects and for one
// that cannot be read, which then counts as changed.
func (s *session) beforeAdoption(ctx context.Context, p *targetObject) *unstructured.Unstructured {
	if !s.isForeign(p) || p.item.Group != "" || (p.item.Kind != "ConfigMap" && p.item.Kind != "Secret") {
		return nil
	}
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return nil
	}
	return obj
}

// noteUnchanged notes a ConfigMap or Secret that has the same content before and after its write.
func (s *session) noteUnchanged(p *targetObject, before, after *unstructured.Unstructured) {
	if before == nil {
		return
	}
	for _, field := range []string{"data", "binaryData"} {
		if !reflect.DeepEqual(before.Object[field], after.Object[field]) {
			return
		}
	}
	s.adopted.mu.Lock()
	defer s.adopted.mu.Unlock()
	if s.adopted.unchanged == nil {
		s.adopted.unchanged = map[render.Identity]bool{}
	}
	s.adopted.unchanged[render.IdentityOf(&p.item)] = true
}

// readBefore returns the digest of the configuration of a workload's pods. The result is true if the pods read the same content
// before the workload became the instance's.
func (s *session) readBefore(p *targetObject) (string, bool) {
	if p.live == nil || p.item.Group != "apps" || !slices.Contains(rollsOut, p.item.Kind) {
		return "", false
	}
	digest, ok := p.object.Field("spec", "template", "metadata", "annotations", render.AnnotationConfiguration).(string)
	if !ok {
		return "", false
	}
	if s.belongs(p) {
		return digest, p.live.Annotations[annotationConfigurationRead] == digest
	}
	return digest, s.readsUnchanged(p)
}

// readsUnchanged reports whether all ConfigMaps and Secrets that the pods of an object read were
// taken over in this call as they were.
func (s *session) readsUnchanged(p *targetObject) bool {
	s.adopted.mu.Lock()
	defer s.adopted.mu.Unlock()
	return !slices.ContainsFunc(p.object.Reads(), func(id render.Identity) bool { return !s.adopted.unchanged[id] })
}

// body returns the body of the apply of an object of the target. The pod template of a workload that was taken over gets no digest
// while the content that its pods read is unchanged.
func (s *session) body(p *targetObject, replicas *int64) map[string]any {
	body := applyBody(p.object, s.target, p.ref.Namespace, replicas)
	digest, read := s.readBefore(p)
	if !read {
		return body
	}
	at := []string{"spec", "template", "metadata", "annotations"}
	annotations := kube.Merged(p.object.Field(at...), nil)
	delete(annotations, render.AnnotationConfiguration)
	if len(annotations) > 0 {
		kube.SetNested(body, annotations, at...)
	} else {
		meta := kube.Merged(p.object.Field(at[:3]...), nil)
		delete(meta, "annotations")
		kube.SetNested(body, meta, at[:3]...)
	}
	kube.SetNested(body, digest, "metadata", "annotations", annotationConfigurationRead)
	return body
}
