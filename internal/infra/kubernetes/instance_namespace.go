package kubernetes

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// instanceNamespace returns the namespace of the instance if the driver created it or has to create it. It returns nil if the
// namespace existed before, is an object of the package, or receives no object. The namespace belongs to the instance and to no
// package, so previews and observations do not show it.
func (s *session) instanceNamespace(ctx context.Context, target []*targetObject) (*targetObject, error) {
	exists := slices.ContainsFunc(target, func(p *targetObject) bool { return p.ref.Namespace == s.namespace && p.live != nil })
	recorded := slices.ContainsFunc(s.target.Instance.Inventory, func(i vnfm.InventoryItem) bool { return isNamespace(&i, s.namespace) })
	// Without an inventory the record may have been lost. Only the label then shows that the driver created the namespace.
	if !s.needsNamespace(target) || (exists && !recorded && len(s.target.Instance.Inventory) > 0) {
		return nil, nil
	}
	r, err := s.client.Resource(ctx, namespaceKind)
	if err != nil {
		return nil, err
	}
	p := s.objectNamed(kube.Ref{Resource: r}, s.namespace, nil)
	p.recorded = recorded
	obj, err := s.client.Get(ctx, p.ref)
	switch {
	case apierrors.IsNotFound(err):
		return p, nil
	case apierrors.IsForbidden(err):
		// The credentials may be limited to one namespace. If it does not exist, the first apply reports the error.
		return nil, nil
	case err != nil:
		return nil, err
	}
	p.live = liveOf(p, obj, false)
	if p.live.DeletionTimestamp != nil {
		// Its objects are deleted with the namespace, and the apply creates a new one.
		return p, nil
	}
	if !s.belongs(p) && !s.isRetained(p) {
		return nil, nil
	}
	p.item.UID = string(p.live.UID)
	return p, nil
}

// needsNamespace reports whether the instance's namespace receives objects of the target, release records or the instance's Secret,
// and is not itself an object of the target.
func (s *session) needsNamespace(target []*targetObject) bool {
	// The namespace receives the records of a chart's release, and possibly its hooks.
	needed := s.rendering != nil && (s.rendering.Release != nil || s.keepsSecret())
	for _, p := range target {
		if p.ref.Resource.GVK == namespaceKind && p.ref.Name == s.namespace {
			return false
		}
		needed = needed || p.ref.Namespace == s.namespace
	}
	return needed
}

// isNamespace reports whether an inventory item is the namespace of that name.
func isNamespace(i *vnfm.InventoryItem, namespace string) bool {
	return i.Group == "" && i.Kind == "Namespace" && i.Name == namespace
}

// withInstanceNamespace puts the namespace first and drops its entry from the inventory.
func withInstanceNamespace(all []*targetObject, namespace *targetObject) []*targetObject {
	out := []*targetObject{namespace}
	for _, p := range all {
		if p.object == nil && isNamespace(&p.item, namespace.ref.Name) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// applyInstanceNamespace creates the namespace of the instance, takes over the one that a terminated instance of the same name kept,
// or writes the new name of the instance to its annotation.
func (s *session) applyInstanceNamespace(ctx context.Context, p *targetObject) error {
	if p.live != nil && p.live.Labels[labelInstance] == s.target.Instance.ID && !s.showsOldName(p.live.Annotations) {
		p.ready = true
		return nil
	}
	body := map[string]any{
		"apiVersion": "v1",
		"kind":       "Namespace",
		"metadata": map[string]any{
			"name":        p.ref.Name,
			"labels":      map[string]any{labelInstance: s.target.Instance.ID},
			"annotations": map[string]any{annotationInstance: s.target.Instance.Name},
		},
	}
	obj, err := s.client.Apply(ctx, p.ref, body, kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("making namespace %s for VNF instance %q: %w", p.ref.Name, s.target.Instance.Name, err)
	}
	p.live = liveOf(p, obj, false)
	p.item.UID = string(p.live.UID)
	p.ready = true
	return nil
}
