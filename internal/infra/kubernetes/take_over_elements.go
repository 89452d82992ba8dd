package kubernetes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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

// takeOverTries bounds how often takeOverElements tries again when the object changes at
// the same time.
const takeOverTries = 5

// takeOverElements takes over the list elements that replaced the driver's own. Nothing is
// read unless the driver has lost elements of a list.
func (s *session) takeOverElements(ctx context.Context, p *targetObject) error {
	for tries := 1; ; tries++ {
		missing, err := s.lostFields(p)
		if err != nil || !drift.LostElements(missing) {
			return err
		}
		obj, err := s.client.Get(ctx, p.ref)
		if apierrors.IsNotFound(err) {
			return nil // The apply creates it again.
		}
		if err != nil {
			return err
		}
		p.live = liveOf(p, obj, false)
		foreign, err := s.foreignElements(p, obj.Object)
		if err != nil || len(foreign) == 0 {
			return err
		}
		entries, err := drift.TakeOver(p.live.ManagedFields, foreign)
		if err != nil {
			return err
		}
		if err = s.client.SetManagedFields(ctx, p.ref, obj.GetResourceVersion(), entries); err == nil {
			s.progress(ctx, "removing %s from %s, which replaces an element of the instance", foreign[0].Path, p)
			return nil
		}
		if !apierrors.IsConflict(err) || tries == takeOverTries {
			return err
		}
	}
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
