package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// resolveKind returns the resource of a kind, from the server or, for a kind that the server does not know yet, from a
// CustomResourceDefinition of the package.
func (s *session) resolveKind(ctx context.Context, gvk schema.GroupVersionKind) (r kube.Resource, served bool, err error) {
	r, err = s.client.Resource(ctx, gvk)
	var unknown *kube.UnknownKindError
	if !errors.As(err, &unknown) {
		return r, true, err
	}
	d := s.rendering.Definitions[gvk.GroupKind()]
	if d == nil || !d.Serves(gvk) {
		return r, false, err
	}
	return kube.Resource{
		GVK:        gvk,
		GVR:        gvk.GroupVersion().WithResource(d.Plural),
		Namespaced: d.Namespaced,
		Scale:      d.Replicas[gvk.Version] != nil,
	}, false, nil
}

// resolveExisting returns the resource of an object that was created earlier. If its version is not served any more, another version
// is used. ok is false if the kind does not exist any more, and so neither does the object.
func (s *session) resolveExisting(ctx context.Context, gvk schema.GroupVersionKind) (r kube.Resource, ok bool, err error) {
	var unknown *kube.UnknownKindError
	r, err = s.client.Resource(ctx, gvk)
	if err == nil {
		return r, true, nil
	}
	if !errors.As(err, &unknown) {
		return r, false, err
	}
	r, err = s.client.Kind(ctx, gvk.GroupKind())
	if errors.As(err, &unknown) {
		return r, false, nil
	}
	return r, err == nil, err
}

// existingObjects resolves objects that were created earlier. It leaves out objects whose kind does not exist any more.
func (s *session) existingObjects(ctx context.Context, objects []*render.Object) ([]*targetObject, error) {
	var out []*targetObject
	for _, o := range objects {
		if o.IsRequest() {
			continue
		}
		r, ok, err := s.resolveExisting(ctx, o.GVK)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, s.newTargetObject(o, r))
		}
	}
	return out, nil
}

// neededVerbs are the verbs that the driver uses on every object.
var neededVerbs = []string{"delete", "list", "patch"}

// resolveTarget resolves every object of the target. It reports all unknown kinds at once. It stores objects that are posted once in
// session.requests instead.
func (s *session) resolveTarget(ctx context.Context) ([]*targetObject, error) {
	out := make([]*targetObject, 0, len(s.rendering.Objects))
	s.requests = nil
	seen := map[render.Identity]*targetObject{}
	var errs []error
	failed := map[schema.GroupVersionKind]bool{}
	for _, o := range s.rendering.Objects {
		r, served, err := s.resolveKind(ctx, o.GVK)
		if err != nil {
			var unknown *kube.UnknownKindError
			if !errors.As(err, &unknown) {
				return nil, err
			}
			if !failed[o.GVK] {
				failed[o.GVK] = true
				errs = append(errs, fmt.Errorf("%s (%s): %w", o.Key, o.Place(), err))
			}
			continue
		}
		if o.IsRequest() {
			s.requests = append(s.requests, s.newTargetObject(o, r))
			continue
		}
		if lacking := missingVerb(r); lacking != "" {
			errs = append(errs, fmt.Errorf("%s (%s): the API server does not support %s for kind %s: it cannot be part of a VNF", o.Key, o.Place(), lacking, o.GVK.Kind))
			continue
		}
		p := s.newTargetObject(o, r)
		p.notServed = !served
		if first, twice := seen[render.IdentityOf(&p.item)]; twice {
			reason := "namespace " + s.namespace + " is that of the instance"
			if !r.Namespaced {
				reason = "objects of kind " + o.GVK.Kind + " are in no namespace"
			}
			errs = append(errs, fmt.Errorf("%s (%s) is the same object as %s: %s", o.Key, o.Place(), first, reason))
			continue
		}
		seen[render.IdentityOf(&p.item)] = p
		out = append(out, p)
	}
	return out, errors.Join(errs...)
}

// missingVerb returns the first of neededVerbs that a kind does not support.
func missingVerb(r kube.Resource) string {
	for _, verb := range neededVerbs {
		if len(r.Verbs) > 0 && !slices.Contains(r.Verbs, verb) {
			return verb
		}
	}
	return ""
}

// addInventory adds the objects that only the inventory contains, and copies the UIDs of the others.
func (s *session) addInventory(ctx context.Context, all []*targetObject) ([]*targetObject, error) {
	byIdentity := make(map[render.Identity]*targetObject, len(all))
	for _, p := range all {
		byIdentity[render.IdentityOf(&p.item)] = p
	}
	for i := range s.target.Instance.Inventory {
		item := s.target.Instance.Inventory[i]
		if item.Posted != "" {
			continue
		}
		if p, ok := byIdentity[render.IdentityOf(&item)]; ok {
			p.item.UID, p.recorded = item.UID, true
			continue
		}
		r, ok, err := s.resolveExisting(ctx, gvkOf(&item))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		p := &targetObject{
			item:     item,
			ref:      kube.Ref{Resource: r, Namespace: item.Namespace, Name: item.Name},
			wave:     render.WaveOf(item.Group, item.Kind),
			recorded: true,
		}
		byIdentity[render.IdentityOf(&item)] = p
		all = append(all, p)
	}
	return all, nil
}

// readOptions are the options of readLive.
type readOptions struct {
	selector string
	// content selects the kinds whose objects are read completely, because their metadata does not suffice.
	content func(p *targetObject) bool
	// keepContent keeps the content of these objects.
	keepContent bool
	// partly skips objects that the credentials may not list, see targetObject.unread.
	partly bool
}

// collection is one collection of the API.
type collection struct {
	gvr       schema.GroupVersionResource
	namespace string
}

// byCollection groups objects by their collection, in a stable order.
func byCollection(all []*targetObject) ([]collection, map[collection][]*targetObject) {
	var order []collection
	groups := map[collection][]*targetObject{}
	for _, p := range all {
		if p.notServed {
			continue
		}
		k := collection{p.ref.Resource.GVR, p.ref.Namespace}
		if _, ok := groups[k]; !ok {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	return order, groups
}

// readLive reads the live state of objects with one LIST per kind and namespace, whatever the number of objects.
func (s *session) readLive(ctx context.Context, all []*targetObject, o readOptions) error {
	order, groups := byCollection(all)
	return s.each(ctx, len(order), false, func(ctx context.Context, i int) error {
		group := groups[order[i]]
		err := s.readCollection(ctx, group, o)
		if !o.partly || !apierrors.IsForbidden(err) {
			return err
		}
		for _, p := range group {
			p.unread = err
		}
		return nil
	})
}

func (s *session) readCollection(ctx context.Context, group []*targetObject, o readOptions) error {
	byName := make(map[string]*targetObject, len(group))
	content := false
	for _, p := range group {
		byName[p.ref.Name] = p
		content = content || (o.content != nil && o.content(p))
	}
	r, namespace := group[0].ref.Resource, group[0].ref.Namespace
	options := kube.ListOptions{LabelSelector: o.selector}
	if !content {
		list, version, err := s.client.ListMetadataVersion(ctx, r, namespace, options)
		if err != nil && !s.kindIsGone(err) {
			return err
		}
		listedAt(group, version)
		for i := range list {
			if p, ok := byName[list[i].Name]; ok {
				p.live = &live{ObjectMeta: list[i].ObjectMeta}
			}
		}
		return nil
	}
	list, version, err := s.client.ListVersion(ctx, r, namespace, options)
	if s.kindIsGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	listedAt(group, version)
	for i := range list {
		if p, ok := byName[list[i].GetName()]; ok {
			p.see(&list[i], o.keepContent)
		}
	}
	return nil
}

// listedAt notes the resource version of a list, unless there are so many objects that a wait lists them again.
func listedAt(group []*targetObject, version string) {
	if len(group) > kube.MaxKnown {
		version = ""
	}
	for _, p := range group {
		p.listed = version
	}
}

// listMetadata lists the metadata of the objects of a kind. For a kind that does not exist any more it returns no objects.
func (s *session) listMetadata(ctx context.Context, r kube.Resource, namespace string, o kube.ListOptions) ([]metav1.PartialObjectMetadata, error) {
	list, err := s.client.ListMetadata(ctx, r, namespace, o)
	if s.kindIsGone(err) {
		return nil, nil
	}
	return list, err
}

// kindIsGone reports whether a LIST failed because the definition of its kind was removed after discovery. A missing namespace is no
// other cause: its lists are empty.
func (s *session) kindIsGone(err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	s.client.RefreshDiscovery()
	return true
}

// liveOf extracts the parts of an object that the driver uses.
func liveOf(p *targetObject, obj *unstructured.Unstructured, keep bool) *live {
	l := &live{ObjectMeta: metaOf(obj)}
	l.ready = readiness.Of(obj, p.rule()).Ready
	if p.object != nil {
		path, _ := p.object.Replicas()
		if n, ok, err := unstructured.NestedInt64(obj.Object, path...); ok && err == nil {
			l.replicas = &n
		}
	}
	if render.KeepsPods(obj.GroupVersionKind().GroupKind()) {
		l.template = templateDigest(obj)
	}
	if keep {
		l.content = obj.Object
	}
	return l
}

// metaOf copies the metadata that the driver uses.
func metaOf(obj *unstructured.Unstructured) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              obj.GetName(),
		Namespace:         obj.GetNamespace(),
		UID:               obj.GetUID(),
		Generation:        obj.GetGeneration(),
		Labels:            obj.GetLabels(),
		Annotations:       obj.GetAnnotations(),
		Finalizers:        obj.GetFinalizers(),
		OwnerReferences:   obj.GetOwnerReferences(),
		ManagedFields:     obj.GetManagedFields(),
		DeletionTimestamp: obj.GetDeletionTimestamp(),
		CreationTimestamp: obj.GetCreationTimestamp(),
	}
}
