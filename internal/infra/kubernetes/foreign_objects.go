package kubernetes

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// livingForeignObjects returns the foreign objects of a definition's kind that are not being deleted. The removal of the definition
// would delete them.
func (s *session) livingForeignObjects(ctx context.Context, p *targetObject) ([]*targetObject, error) {
	all, err := s.foreignObjects(ctx, p)
	return slices.DeleteFunc(all, func(p *targetObject) bool { return p.live.DeletionTimestamp != nil }), err
}

// foreignObjects returns the objects of a definition's kind, in all namespaces, that do not belong to the instance.
func (s *session) foreignObjects(ctx context.Context, p *targetObject) ([]*targetObject, error) {
	obj, err := s.client.Get(ctx, p.ref)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := render.ReadDefinition(obj.Object)
	// The stored version needs no conversion. The conversion webhook may already be deleted with its operator.
	version := d.Storage
	if _, served := d.Replicas[version]; !served && len(d.Replicas) > 0 {
		version = slices.Sorted(maps.Keys(d.Replicas))[0]
	}
	gv := schema.GroupVersion{Group: d.Group, Version: version}
	r := kube.Resource{GVK: gv.WithKind(d.Kind), GVR: gv.WithResource(d.Plural), Namespaced: d.Namespaced}
	list, err := s.listMetadata(ctx, r, "", kube.ListOptions{})
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i := range s.saved {
		own[s.saved[i].UID] = true
	}
	// Objects that the instance's objects own, directly or indirectly, are deleted with their owners.
	for grown := true; grown; {
		grown = false
		for i := range list {
			m := &list[i].ObjectMeta
			mine := m.Labels[labelInstance] == s.target.Instance.ID
			for _, owner := range m.OwnerReferences {
				mine = mine || own[string(owner.UID)]
			}
			if mine && !own[string(m.UID)] {
				own[string(m.UID)], grown = true, true
			}
		}
	}
	var out []*targetObject
	for i := range list {
		if m := &list[i].ObjectMeta; !own[string(m.UID)] {
			other := s.objectNamed(kube.Ref{Resource: r, Namespace: m.Namespace}, m.Name, nil)
			other.live = &live{ObjectMeta: *m}
			out = append(out, other)
		}
	}
	return out, nil
}
