package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Find implements vnfm.InfraDriver. The Secret beside the objects tells of an instance in one request. An instance without one is
// found by the labels of its objects, in its namespace alone.
func (d *Driver) Find(ctx context.Context, t *vnfm.Target, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	s, err := d.connect(t, nil)
	if err != nil {
		return nil, err
	}
	found, err := s.findKept(ctx, p)
	if err == nil && len(found) == 0 {
		found, err = s.findLabelled(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for %s on VIM %q: %w", p.Kind, t.VIM.Name, err)
	}
	return found, nil
}

// findKept finds instances by the Secrets beside their objects. A place without a namespace is all of them, if Secrets of all namespaces
// may be listed.
func (s *session) findKept(ctx context.Context, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	r, err := s.client.Resource(ctx, secretKind)
	if err != nil {
		return nil, err
	}
	selector, namespaces := labelKeyOf, []string{s.namespace}
	if p.ID != "" {
		selector += "=" + p.ID
	}
	if p.ID != "" || p.Namespace == "" {
		namespaces = []string{"", s.namespace}
	}
	for _, namespace := range namespaces {
		var list []unstructured.Unstructured
		list, err = s.client.List(ctx, r, namespace, kube.ListOptions{LabelSelector: selector})
		if apierrors.IsForbidden(err) {
			err = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		return foundIn(list, p)
	}
	return nil, err
}

// foundIn are the instances of a place by their Secrets.
func foundIn(secrets []unstructured.Unstructured, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	var out []vnfm.FoundInstance
	for i := range secrets {
		one := &secrets[i]
		id, name := one.GetLabels()[labelKeyOf], one.GetAnnotations()[annotationInstance]
		// The label can be copied; the name of the Secret is that of one instance.
		if one.GetName() != "vnf-"+id || (p.Name != "" && name != p.Name) {
			continue
		}
		kept, err := keptIn(one)
		if err != nil {
			return nil, err
		}
		if len(kept[argumentsField]) > 0 {
			out = append(out, vnfm.FoundInstance{ID: id, Name: name, Namespace: one.GetNamespace(), Arguments: kept[argumentsField]})
		}
	}
	return out, nil
}

// findLabelled finds instances by the labels and annotations of their objects, which tell no arguments.
func (s *session) findLabelled(ctx context.Context, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	collections, err := s.collectionsToSearch(ctx, nil)
	if err != nil {
		return nil, err
	}
	selector := labelInstance
	if p.ID != "" {
		selector = instanceSelector(p.ID)
	}
	var mu sync.Mutex
	byID := map[string]vnfm.FoundInstance{}
	err = s.each(ctx, len(collections), false, func(ctx context.Context, i int) error {
		ref := collections[i].ref
		list, err := s.listMetadata(ctx, ref.Resource, ref.Namespace, kube.ListOptions{LabelSelector: selector})
		if apierrors.IsForbidden(err) {
			return nil
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for n := range list {
			id, name, pkg := list[n].Labels[labelInstance], list[n].Annotations[annotationInstance], list[n].Annotations[annotationPackage]
			// Objects outside the namespace may be of an instance of the same name in another one; the Lease of an operation names none.
			if list[n].Namespace != "" && pkg != "" && (p.Name == "" || p.Name == name) {
				byID[id] = vnfm.FoundInstance{ID: id, Name: name, Namespace: list[n].Namespace, PackageID: pkg}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []vnfm.FoundInstance
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, byID[id])
	}
	return out, nil
}
