package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Kinds that the driver knows by name.
var (
	claimKind       = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	namespaceKind   = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	podKind         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	secretKind      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	statefulSetKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
)

// targetObject is an object of the target, of the inventory, or found by its label, with
// its place on the server.
type targetObject struct {
	// object is nil when the target does not have it.
	object *render.Object
	// item is the object's entry in the inventory.
	item vnfm.InventoryItem
	ref  kube.Ref
	wave int
	// live is what the server holds, nil when the object does not exist.
	live *live
	// listed is the resource version of the last list of the object's kind, seen the whole object as it was seen last
	// when it was not ready then.
	listed string
	seen   *unstructured.Unstructured
	// recorded is set when the inventory already had the object.
	recorded bool
	// ready is set once the object was seen ready.
	ready bool
	// unmarked is set when a write has left the pod template of a kind that keeps its pods
	// as it was: pods without a mark are of this template.
	unmarked bool
	// shared is set for a shared object that existed before and is not the instance's: it is
	// used and never changed.
	shared bool
	// unread is why the object could not be read: the credentials have no right to.
	unread error
	// notServed is set when a definition of the package brings the kind and the server does
	// not know it yet: no object of it can exist.
	notServed bool
}

func (p *targetObject) String() string { return p.item.Key }

// known is the state from which a wait for an object begins.
func (p *targetObject) known() kube.Known { return kube.Known{Object: p.seen, Listed: p.listed} }

// rule overrides the readiness rule of the kind; nil for none.
func (p *targetObject) rule() *readiness.Rule {
	if p.object == nil {
		return nil
	}
	return p.object.Rule
}

// live is the part of an object on the server that the driver uses.
type live struct {
	metav1.ObjectMeta
	// replicas is set when the object has some.
	replicas *int64
	ready    bool
	// template is the digest of the pod template that the server holds, without the
	// annotations that tell its pods, of a kind that keeps its pods.
	template string
	// content is the whole object when readOptions asked for it.
	content map[string]any
}

// see takes over what the server holds of an object.
func (p *targetObject) see(obj *unstructured.Unstructured, keepContent bool) {
	p.live, p.seen = liveOf(p, obj, keepContent), nil
	if !p.live.ready {
		p.seen = obj
	}
}

// gvkOf returns the kind of an inventory item.
func gvkOf(i *vnfm.InventoryItem) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: i.Group, Version: i.Version, Kind: i.Kind}
}

// newTargetObject places a rendered object on the server.
func (s *session) newTargetObject(o *render.Object, r kube.Resource) *targetObject {
	namespace := ""
	if r.Namespaced {
		namespace = o.NamespaceIn(s.namespace)
	}
	return &targetObject{
		object: o,
		ref:    kube.Ref{Resource: r, Namespace: namespace, Name: o.Name},
		wave:   o.Wave,
		item: vnfm.InventoryItem{
			Key: o.Key, Group: o.GVK.Group, Version: o.GVK.Version, Kind: o.GVK.Kind, Namespace: namespace, Name: o.Name,
		},
	}
}

// objectNamed returns the expected object of that name, or makes one. It only reads the
// map.
func (s *session) objectNamed(ref kube.Ref, name string, expected map[render.Identity]*targetObject) *targetObject {
	gvk := ref.Resource.GVK
	id := render.Identity{Group: gvk.Group, Kind: gvk.Kind, Namespace: ref.Namespace, Name: name}
	if p, ok := expected[id]; ok {
		return p
	}
	return &targetObject{
		item: vnfm.InventoryItem{
			Key: render.ObjectKey(gvk, ref.Namespace, name), Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: ref.Namespace, Name: name,
		},
		ref:  kube.Ref{Resource: ref.Resource, Namespace: ref.Namespace, Name: name},
		wave: render.WaveOf(gvk.Group, gvk.Kind),
	}
}

// withoutDuplicates drops the objects to exclude, and the repeated ones.
func withoutDuplicates(all []*targetObject, exclude ...*targetObject) []*targetObject {
	seen := make(map[render.Identity]bool, len(all)+len(exclude))
	for _, p := range exclude {
		seen[render.IdentityOf(&p.item)] = true
	}
	return slices.DeleteFunc(all, func(p *targetObject) bool {
		id := render.IdentityOf(&p.item)
		duplicate := seen[id]
		seen[id] = true
		return duplicate
	})
}

// awaitsReadiness reports whether an object of the target becomes ready only after its
// creation.
func awaitsReadiness(p *targetObject) bool {
	return p.object != nil && (p.object.Rule != nil || !readiness.OnCreation(p.object.GVK.GroupKind()))
}

// isWorkload reports whether the pods of an object must be gone before what they use goes.
func isWorkload(p *targetObject) bool {
	switch p.item.Group {
	case "apps":
		return p.wave == render.WaveWorkload
	case "batch":
		return true
	case "":
		return p.item.Kind == "ReplicationController"
	default:
		return false
	}
}

func isClaim(p *targetObject) bool {
	return p.item.Group == "" && p.item.Kind == "PersistentVolumeClaim"
}

func isVolume(p *targetObject) bool {
	return p.item.Group == "" && p.item.Kind == "PersistentVolume"
}

func isPod(p *targetObject) bool { return p.item.Group == "" && p.item.Kind == "Pod" }

func isScaled(p *targetObject) bool { return p.object != nil && p.object.Scaling != nil }

// isDefinition reports whether an object is a CustomResourceDefinition.
func isDefinition(p *targetObject) bool {
	return p.item.Group == "apiextensions.k8s.io" && p.item.Kind == "CustomResourceDefinition"
}

func ofWave(all []*targetObject, wave int) []*targetObject {
	var out []*targetObject
	for _, p := range all {
		if p.wave == wave {
			out = append(out, p)
		}
	}
	return out
}

// firstNames names the first objects of a list.
func firstNames(all []*targetObject) string {
	const most = 3
	var names []string
	for _, p := range all[:min(most, len(all))] {
		names = append(names, p.String())
	}
	text := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
