package kubernetes

import (
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// replacedPods warns of pods that the apply replaces itself because no controller does: the pods of changed workloads that keep their
// pods, bare Pods that read other configuration, and pods that would block the roll-out of a StatefulSet. It leaves out unreadable
// objects.
func (s *session) replacedPods(ctx context.Context, objects []*render.Object) vnfm.Problems {
	var mu sync.Mutex
	var replaced, blocking []string
	_ = s.each(ctx, len(objects), true, func(ctx context.Context, i int) error {
		how, which := s.howReplaced(ctx, objects[i]), s.blockingPods(ctx, objects[i])
		mu.Lock()
		defer mu.Unlock()
		if how != "" {
			replaced = append(replaced, objects[i].Key+": "+how)
		}
		if which != "" {
			blocking = append(blocking, objects[i].Key+": "+which)
		}
		return nil
	})
	var out vnfm.Problems
	warn := func(lines []string, summary, detail string) {
		if len(lines) > 0 {
			slices.Sort(lines)
			out = append(out, vnfm.Problem{Severity: vnfm.SeverityWarning, Summary: summary, Detail: strings.Join(lines, "\n") + "\n" + detail})
		}
	}
	warn(replaced, "the apply replaces pods of workloads that have no roll-out of their own", "A Deployment rolls its changes out by its own strategy.")
	warn(blocking, "pods that are not ready would block the roll-out of a StatefulSet",
		"The apply deletes those that do not become ready, and the StatefulSet creates them again with their claims.")
	return out
}

// readTarget reads the live state of a rendered object into a target object. Both results are nil if the object does not exist or
// cannot be read.
func (s *session) readTarget(ctx context.Context, o *render.Object) (*targetObject, *unstructured.Unstructured) {
	r, served, err := s.resolveKind(ctx, o.GVK)
	if err != nil || !served {
		return nil, nil
	}
	p := s.newTargetObject(o, r)
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return nil, nil
	}
	p.live = liveOf(p, obj, false)
	return p, obj
}

// blockingPods returns the names of the pods of a StatefulSet that are not ready.
func (s *session) blockingPods(ctx context.Context, o *render.Object) string {
	if o.GVK.GroupKind() != statefulSetKind.GroupKind() {
		return ""
	}
	p, obj := s.readTarget(ctx, o)
	if obj == nil || !restartable(p) || p.live.ready {
		return ""
	}
	byOwner, err := s.client.PodsOf(ctx, p.ref.Namespace, map[types.UID]string{p.live.UID: o.Key})
	if err != nil {
		return ""
	}
	var names []string
	for i := range byOwner[o.Key] {
		if pod := &byOwner[o.Key][i]; pod.DeletionTimestamp == nil && !podIsReady(pod) {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// howReplaced describes how the pods of an object are replaced. It is empty if they are not replaced.
func (s *session) howReplaced(ctx context.Context, o *render.Object) string {
	gk := o.GVK.GroupKind()
	if !render.KeepsPods(gk) && gk != podKind.GroupKind() {
		return ""
	}
	p, obj := s.readTarget(ctx, o)
	if obj == nil {
		return ""
	}
	adopted := s.adoptionChanges(ctx, p)
	if isPod(p) {
		if adopted || s.readsOther(p) {
			return "the pod is deleted and created again, since it reads changed configuration"
		}
		return ""
	}
	was, known, _ := unstructured.NestedString(obj.Object, "spec", "template", "metadata", "annotations", render.AnnotationTemplate)
	if mark, ok := p.mark(); adopted || ok && known && was != mark {
		return "its pods are deleted one after the other, each once the one before has a ready successor"
	}
	return ""
}

// adoptionChanges reports whether the apply takes over an object and also changes the content of a ConfigMap or Secret that its pods
// read.
func (s *session) adoptionChanges(ctx context.Context, p *targetObject) bool {
	if !s.target.AdoptExisting || !s.isForeign(p) {
		return false
	}
	return slices.ContainsFunc(s.rendering.Objects, func(o *render.Object) bool {
		id := render.Identity{Group: o.GVK.Group, Kind: o.GVK.Kind, Namespace: o.NamespaceIn(s.namespace), Name: o.Name}
		if !slices.Contains(p.object.Reads(), id) {
			return false
		}
		_, obj := s.readTarget(ctx, o)
		return obj != nil && !hasContent(obj.Object, o.Content)
	})
}

// hasContent reports whether a ConfigMap or Secret already contains all data of another one.
func hasContent(live, written map[string]any) bool {
	for _, field := range []string{"data", "binaryData"} {
		has, _ := live[field].(map[string]any)
		wants, _ := written[field].(map[string]any)
		for name, value := range wants {
			if has[name] != value {
				return false
			}
		}
	}
	return true
}
