package kubernetes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Server-side apply removes a field only when its last owner drops it. A co-owner would therefore keep a field in the object
// after the package has dropped it. The driver ends the co-ownership of former writers when it adopts an object. If another writer
// becomes a co-owner later, the removal of the field from the package is a conflict.

// changeOwnersTries bounds the attempts of changeOwners when the object changes concurrently.
const changeOwnersTries = 5

// changeOwners reads an object and writes the managed fields that change returns. It writes nothing if change returns nil.
func (s *session) changeOwners(ctx context.Context, p *targetObject, change func(obj *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error)) error {
	for tries := 1; ; tries++ {
		obj, err := s.client.Get(ctx, p.ref)
		if apierrors.IsNotFound(err) {
			return nil // The next apply creates it again.
		}
		if err != nil {
			return err
		}
		p.live = liveOf(p, obj, false)
		entries, err := change(obj)
		if err != nil || entries == nil {
			return err
		}
		err = s.client.SetManagedFields(ctx, p.ref, obj.GetResourceVersion(), entries)
		if err == nil {
			p.live.ManagedFields = entries
			return nil
		}
		if !apierrors.IsConflict(err) || tries == changeOwnersTries {
			return err
		}
	}
}

// takeOverDropped makes the driver the only owner of fields that the target has dropped. Without force, it returns co-owned fields as
// a *kube.ConflictError.
func (s *session) takeOverDropped(ctx context.Context, p *targetObject, body map[string]any, force bool) error {
	held, err := drift.FindHeld(body, p.live.ManagedFields)
	if err != nil || len(held) == 0 {
		return err
	}
	if !force {
		conflict := &kube.ConflictError{Ref: p.ref, Dropped: true}
		for _, f := range held {
			conflict.Conflicts = append(conflict.Conflicts, kube.FieldConflict{Manager: f.Manager, Field: "." + f.Path.String()})
		}
		if s.onlyOwnManagers(conflict) {
			return nil // endCoOwnership removes the fields of the helm command.
		}
		return conflict
	}
	return s.changeOwners(ctx, p, func(*unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
		held, err := drift.FindHeld(body, p.live.ManagedFields)
		if err != nil || len(held) == 0 {
			return nil, err
		}
		var paths []drift.FieldPath
		for _, f := range held {
			paths = append(paths, f.Path)
		}
		return drift.TakeOver(p.live.ManagedFields, paths)
	})
}

// endCoOwnership ends the co-ownership of the helm command in a release, and of former writers in an adopted object.
func (s *session) endCoOwnership(ctx context.Context, p *targetObject) error {
	if s.rendering.Release != nil {
		if err := s.takeOverFromHelm(ctx, p); err != nil {
			return err
		}
	}
	if _, adopted := p.live.Annotations[annotationRetained]; !adopted {
		return nil
	}
	entries, err := drift.WithoutCoOwners(p.live.ManagedFields)
	if err != nil || entries == nil {
		return err
	}
	return s.changeOwners(ctx, p, func(*unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
		return drift.WithoutCoOwners(p.live.ManagedFields)
	})
}

// takeOverFromHelm moves the fields of the helm command to the driver and applies the object again. The apply removes fields
// that only the command has set, like the next revision in Helm.
func (s *session) takeOverFromHelm(ctx context.Context, p *targetObject) error {
	entries, err := drift.TakeOverAll(p.live.ManagedFields, helmFieldManager)
	if err != nil || entries == nil {
		return err
	}
	if p.object.Scaling != nil {
		if err := s.handOverReplicas(ctx, p, helmFieldManager); err != nil {
			return err
		}
	}
	err = s.changeOwners(ctx, p, func(*unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
		return drift.TakeOverAll(p.live.ManagedFields, helmFieldManager)
	})
	if err != nil {
		return err
	}
	obj, err := s.client.Apply(ctx, p.ref, s.body(p, nil), kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	if err != nil {
		return s.explainWrite(p, err)
	}
	p.live = liveOf(p, obj, false)
	p.ready = p.ready && p.live.ready
	return nil
}
