package kubernetes

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Elements of a keyed list, such as the ports of a Service, are identified by their key
// fields. A change of a key field makes another element: that of the driver is gone, and a
// foreign one replaces it. An apply restores the driver's element and cannot remove the
// foreign one, which leaves two ports of one name, and the API server rejects that. So the
// driver takes over the ownership of the foreign element, by a change of the managed fields
// alone. The apply that follows does not name it any more and so removes it, in one step
// with what it restores.
//
// Elements that others added beside the driver's are never touched.

// takeOverElements takes over the list elements that replaced the driver's own. Nothing is
// read unless the driver has lost elements of a list.
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

// foreignElements are the list elements of a live object that replaced the driver's own.
func (s *session) foreignElements(p *targetObject, content map[string]any) ([]drift.ForeignElement, error) {
	missing, err := s.lostFields(p)
	if err != nil {
		return nil, err
	}
	return drift.FindForeign(missing, p.live.ManagedFields, content)
}

// foreignElementConflict returns the conflict behind a rejected write of an object in which
// foreign elements replaced the driver's, else the rejection itself.
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
