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

// Find implements vnfm.InfraDriver. One request finds instances by their Secret. An instance without a Secret is found by the labels
// of its objects, in its namespace only.
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

// findKept finds instances by their Secrets. For a place without a namespace it searches all namespaces, if the credentials may list
// their Secrets.
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

// foundIn returns the instances of a place that the Secrets describe.
func foundIn(secrets []unstructured.Unstructured, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	var out []vnfm.FoundInstance
	for i := range secrets {
		one := &secrets[i]
		id, name := one.GetLabels()[labelKeyOf], one.GetAnnotations()[annotationInstance]
		// Users can copy the label to other Secrets, but the name is unique to one instance.
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

// findLabelled finds instances by the labels and annotations of their objects, which do not contain the arguments.
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
			// Cluster-scoped objects may belong to an instance of the same name in another namespace. The Lease of an operation has no
			// package.
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
