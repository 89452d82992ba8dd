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

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// placement is an object at its place on the server: one of the target, one that
// only the inventory or a label knows, or both.
type placement struct {
	// object is nil when the target does not have it.
	object *object
	// item is the object's entry in the inventory.
	item vnfm.InventoryItem
	ref  kube.Ref
	wave int
	// live is what the server holds, nil for nothing.
	live *live
	// recorded is set when the inventory had the object already.
	recorded bool
	// ready is set once the object was seen ready as it is wanted.
	ready bool
	// foreign is set for a shared object that was there before and is not the
	// instance's: it is used and left as it is.
	foreign bool
	// unserved is set when the server does not know the kind yet: a definition of
	// the package brings it, and there can be no objects of it.
	unserved bool
}

func (p *placement) String() string { return p.item.Key }

// rule is what says in the place of its kind when the object is ready.
func (p *placement) rule() *kube.Rule {
	if p.object == nil {
		return nil
	}
	return p.object.rule
}

// live is what is kept of an object on the server.
type live struct {
	metav1.ObjectMeta
	// replicas is set when the object has some.
	replicas *int64
	ready    bool
	// content is the whole object when the survey was asked to keep it.
	content map[string]any
}

// resolveKind asks the server about a kind. One that a CustomResourceDefinition
// of the package brings is described by that.
func (s *session) resolveKind(ctx context.Context, gvk schema.GroupVersionKind) (r kube.Resource, served bool, err error) {
	r, err = s.client.Resource(ctx, gvk)
	var unknown *kube.UnknownKindError
	if !errors.As(err, &unknown) {
		return r, true, err
	}
	d := s.rendering.definitions[gvk.GroupKind()]
	if d == nil || !d.serves(gvk) {
		return r, false, err
	}
	return kube.Resource{
		GVK:        gvk,
		GVR:        gvk.GroupVersion().WithResource(d.plural),
		Namespaced: d.namespaced,
		Scale:      d.replicas[gvk.Version] != nil,
	}, false, nil
}

// resolveOld asks about the kind of an object that was made earlier. Its version
// may not be served any more; ok is false when the kind is gone altogether, and
// with it the object.
func (s *session) resolveOld(ctx context.Context, gvk schema.GroupVersionKind) (r kube.Resource, ok bool, err error) {
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

// neededVerbs are what the driver does with every object.
var neededVerbs = []string{"delete", "list", "patch"}

// place finds the place of every object of the target. All kinds that the server
// does not know are told at once.
func (s *session) place(ctx context.Context) ([]*placement, error) {
	out := make([]*placement, 0, len(s.rendering.objects))
	taken := map[identity]*placement{}
	var errs []error
	failed := map[schema.GroupVersionKind]bool{}
	for _, o := range s.rendering.objects {
		r, served, err := s.resolveKind(ctx, o.gvk)
		if err != nil {
			var unknown *kube.UnknownKindError
			if !errors.As(err, &unknown) {
				return nil, err
			}
			if !failed[o.gvk] {
				failed[o.gvk] = true
				errs = append(errs, fmt.Errorf("%s (%s): %w", o.key, o.place(), err))
			}
			continue
		}
		if lacking := lackingVerbs(r); lacking != "" {
			errs = append(errs, fmt.Errorf("%s (%s): the API server does not offer %s for kind %s: it cannot be part of a VNF", o.key, o.place(), lacking, o.gvk.Kind))
			continue
		}
		p := s.placed(o, r)
		p.unserved = !served
		if first, twice := taken[identityOf(&p.item)]; twice {
			reason := "namespace " + s.namespace + " is that of the instance"
			if !r.Namespaced {
				reason = "objects of kind " + o.gvk.Kind + " are in no namespace"
			}
			errs = append(errs, fmt.Errorf("%s (%s) is the same object as %s: %s", o.key, o.place(), first, reason))
			continue
		}
		taken[identityOf(&p.item)] = p
		out = append(out, p)
	}
	return out, errors.Join(errs...)
}

// lackingVerbs names the first needed verb that a kind does not have.
func lackingVerbs(r kube.Resource) string {
	for _, verb := range neededVerbs {
		if len(r.Verbs) > 0 && !slices.Contains(r.Verbs, verb) {
			return verb
		}
	}
	return ""
}

// placed composes the place of an object of the target.
func (s *session) placed(o *object, r kube.Resource) *placement {
	namespace := ""
	if r.Namespaced {
		namespace = sameHome(s.target, o)
	}
	return &placement{
		object: o,
		ref:    kube.Ref{Resource: r, Namespace: namespace, Name: o.name},
		wave:   o.wave,
		item: vnfm.InventoryItem{
			Key: o.key, Group: o.gvk.Group, Version: o.gvk.Version, Kind: o.gvk.Kind, Namespace: namespace, Name: o.name,
		},
	}
}

// placeInventory adds what the inventory has and the target has not, and takes
// over the UIDs of what both have.
func (s *session) placeInventory(ctx context.Context, all []*placement) ([]*placement, error) {
	known := make(map[identity]*placement, len(all))
	for _, p := range all {
		known[identityOf(&p.item)] = p
	}
	for i := range s.target.Instance.Inventory {
		item := s.target.Instance.Inventory[i]
		if p, ok := known[identityOf(&item)]; ok {
			p.item.UID, p.recorded = item.UID, true
			continue
		}
		r, ok, err := s.resolveOld(ctx, gvkOf(&item))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		p := &placement{
			item:     item,
			ref:      kube.Ref{Resource: r, Namespace: item.Namespace, Name: item.Name},
			wave:     waveOf(item.Group, item.Kind),
			recorded: true,
		}
		known[identityOf(&item)] = p
		all = append(all, p)
	}
	return all, nil
}

// surveyOptions say what a survey reads.
type surveyOptions struct {
	selector string
	// whole chooses the kinds that are read as a whole, since what matters of
	// them is not in their metadata.
	whole func(p *placement) bool
	// keep keeps the content of those.
	keep bool
}

// scopeKey is one collection of the server.
type scopeKey struct {
	gvr       schema.GroupVersionResource
	namespace string
}

// scopesOf groups placements by their collection, in a stable order.
func scopesOf(all []*placement) ([]scopeKey, map[scopeKey][]*placement) {
	var order []scopeKey
	groups := map[scopeKey][]*placement{}
	for _, p := range all {
		if p.unserved {
			continue
		}
		k := scopeKey{p.ref.Resource.GVR, p.ref.Namespace}
		if _, ok := groups[k]; !ok {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	return order, groups
}

// survey looks what the server holds at the places: one LIST for each kind and
// namespace, however many objects there are.
func (s *session) survey(ctx context.Context, all []*placement, o surveyOptions) error {
	order, groups := scopesOf(all)
	return s.each(ctx, len(order), false, func(ctx context.Context, i int) error {
		return s.surveyScope(ctx, groups[order[i]], o)
	})
}

func (s *session) surveyScope(ctx context.Context, group []*placement, o surveyOptions) error {
	byName := make(map[string]*placement, len(group))
	whole := false
	for _, p := range group {
		byName[p.ref.Name] = p
		whole = whole || (o.whole != nil && o.whole(p))
	}
	r, namespace := group[0].ref.Resource, group[0].ref.Namespace
	options := kube.ListOptions{LabelSelector: o.selector}
	if !whole {
		list, err := s.listMetadata(ctx, r, namespace, options)
		if err != nil {
			return err
		}
		for i := range list {
			if p, ok := byName[list[i].Name]; ok {
				p.live = &live{ObjectMeta: list[i].ObjectMeta}
			}
		}
		return nil
	}
	list, err := s.client.List(ctx, r, namespace, options)
	if s.kindIsGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range list {
		if p, ok := byName[list[i].GetName()]; ok {
			p.live = liveOf(p, &list[i], o.keep)
		}
	}
	return nil
}

// listMetadata lists the metadata of the objects of a kind. There are none of a
// kind that is gone.
func (s *session) listMetadata(ctx context.Context, r kube.Resource, namespace string, o kube.ListOptions) ([]metav1.PartialObjectMetadata, error) {
	list, err := s.client.ListMetadata(ctx, r, namespace, o)
	if s.kindIsGone(err) {
		return nil, nil
	}
	return list, err
}

// kindIsGone reports whether a LIST failed since its kind is not served any more:
// a definition was removed after the client had looked what there is. A namespace
// that does not exist has an empty list.
func (s *session) kindIsGone(err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	s.client.RefreshDiscovery()
	return true
}

// liveOf keeps what matters of a whole object.
func liveOf(p *placement, obj *unstructured.Unstructured, keep bool) *live {
	l := &live{ObjectMeta: metaOf(obj)}
	l.ready, _, _, _ = kube.Ready(obj, p.rule())
	if p.object != nil && p.object.scaling != nil {
		if value, ok := nested(obj.Object, p.object.scaling.path...); ok {
			if n, isInt := value.(int64); isInt {
				l.replicas = &n
			}
		}
	}
	if keep {
		l.content = obj.Object
	}
	return l
}

// metaOf copies the metadata that the driver looks at.
func metaOf(obj *unstructured.Unstructured) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              obj.GetName(),
		Namespace:         obj.GetNamespace(),
		UID:               obj.GetUID(),
		Labels:            obj.GetLabels(),
		Annotations:       obj.GetAnnotations(),
		Finalizers:        obj.GetFinalizers(),
		OwnerReferences:   obj.GetOwnerReferences(),
		ManagedFields:     obj.GetManagedFields(),
		DeletionTimestamp: obj.GetDeletionTimestamp(),
		CreationTimestamp: obj.GetCreationTimestamp(),
	}
}

// hasReadiness reports whether an object of the target is more than there or not.
func hasReadiness(p *placement) bool {
	return p.object != nil && (p.object.rule != nil || !kube.ReadyOnceThere(p.object.gvk.GroupKind()))
}
