package kubernetes

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Elements of a keyed list, such as the ports of a Service, are identified by their key fields. A change of a key field removes the
// driver's element and adds a foreign one. An apply restores the driver's element but cannot remove the foreign one. A Service would
// then have two ports of one name, which the API server rejects. The driver therefore first takes over the ownership of the foreign
// element, by a change of only the managed fields. The following apply omits this element and so removes it, in one step with the
// restoration of the driver's.
//
// The driver never changes additional elements of others.

// takeOverElements takes over the list elements that replaced the driver's own. It sends no request unless the driver has lost
// elements of a list.
func (s *session) takeOverElements(ctx context.Context, p *targetObject) error {
	missing, err := s.lostFields(p)
	if err != nil || !drift.LostElements(missing) {
		return err
	}
	return s.changeOwners(ctx, p, func(obj *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
		foreign, err := s.foreignElements(p, obj.Object)
		if err != nil || len(foreign) == 0 {
			return nil, err
		}
		s.progress(ctx, "removing %s from %s, which replaces an element of the instance", foreign[0].Path, p)
		var paths []drift.FieldPath
		for _, f := range foreign {
			paths = append(paths, f.Path)
		}
		return drift.TakeOver(p.live.ManagedFields, paths)
	})
}

// foreignElements returns the list elements of a live object that replaced the driver's own.
func (s *session) foreignElements(p *targetObject, content map[string]any) ([]drift.ForeignElement, error) {
	missing, err := s.lostFields(p)
	if err != nil {
		return nil, err
	}
	return drift.FindForeign(missing, p.live.ManagedFields, content)
}

// foreignElementConflict returns a conflict if foreign elements that replaced the driver's may have caused the rejection of a write,
// else the rejection itself.
func (s *session) foreignElementConflict(ctx context.Context, p *targetObject, refusal error) error {
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return refusal
	}
	p.live = liveOf(p, obj, false)
	found, err := s.foreignElements(p, obj.Object)
	if err != nil || len(found) == 0 {
		return refusal
	}
	conflict := &kube.ConflictError{Ref: p.ref, Err: refusal}
	for _, i := range found {
		conflict.Conflicts = append(conflict.Conflicts, kube.FieldConflict{Manager: i.Manager, Field: "." + i.Path.String()})
	}
	return conflict
}
