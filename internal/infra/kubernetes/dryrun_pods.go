package kubernetes

import (
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// replacedPods warns of pods that an apply replaces because nothing else does: those of
// changed workloads that keep their pods, and bare Pods that read other configuration. What
// cannot be read is left out.
func (s *session) replacedPods(ctx context.Context, objects []*render.Object) vnfm.Problems {
	var mu sync.Mutex
	var lines []string
	_ = s.each(ctx, len(objects), true, func(ctx context.Context, i int) error {
		if how := s.howReplaced(ctx, objects[i]); how != "" {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, objects[i].Key+": "+how)
		}
		return nil
	})
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "the apply replaces pods of workloads that have no roll-out of their own",
		Detail:   strings.Join(lines, "\n") + "\nA Deployment rolls its changes out by its own strategy.",
	}}
}

// howReplaced says how the pods of an object are replaced, empty for not at all.
func (s *session) howReplaced(ctx context.Context, o *render.Object) string {
	gk := o.GVK.GroupKind()
	if !render.KeepsPods(gk) && gk != podKind.GroupKind() {
		return ""
	}
	r, served, err := s.resolveKind(ctx, o.GVK)
	if err != nil || !served {
		return ""
	}
	p := s.newTargetObject(o, r)
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return ""
	}
	p.live = liveOf(p, obj, false)
	if isPod(p) {
		if s.readsOther(p) {
			return "the pod is deleted and created again, since it reads changed configuration"
		}
		return ""
	}
	was, known, _ := unstructured.NestedString(obj.Object, "spec", "template", "metadata", "annotations", render.AnnotationTemplate)
	if mark, ok := p.mark(); ok && known && was != mark {
		return "its pods are deleted one after the other, each once the one before has a ready successor"
	}
	return ""
}
