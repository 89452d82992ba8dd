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

// targetObject is an object of the target, of the inventory, or found by its label, with its reference on the server.
type targetObject struct {
	// object is nil when the target does not contain the object.
	object *render.Object
	// item is the object's entry in the inventory.
	item vnfm.InventoryItem
	ref  kube.Ref
	wave int
	// live is the state on the server, nil when the object does not exist.
	live *live
	// listed is the resource version of the last list of the object's kind. seen is the whole object as last read, nil if it was ready
	// then.
	listed string
	seen   *unstructured.Unstructured
	// recorded is set when the inventory contained the object at the beginning.
	recorded bool
	// ready is set when the object was ready once.
	ready bool
	// unmarked is set when a write did not change the pod template of a kind that keeps its pods. Pods without a mark then have this
	// template.
	unmarked bool
	// shared is set for an existing shared object of another owner. It is used and never changed.
	shared bool
	// unread is the refusal if the credentials have no right to read the object.
	unread error
	// notServed is set when the package defines the kind and the server does not know it yet. No object of the kind can exist.
	notServed bool
}

func (p *targetObject) String() string { return p.item.Key }

// known returns the state from which a wait for an object starts.
func (p *targetObject) known() kube.Known { return kube.Known{Object: p.seen, Listed: p.listed} }

// rule returns the object's own readiness rule, nil if the rule of the kind applies.
func (p *targetObject) rule() *readiness.Rule {
	if p.object == nil {
		return nil
	}
	return p.object.Rule
}

// live holds the parts of an object on the server that the driver uses.
type live struct {
	metav1.ObjectMeta
	// replicas is nil if the object has no number of replicas.
	replicas *int64
	ready    bool
	// template is the digest of the live pod template without the driver's marks. It is set for kinds that keep their pods.
	template string
	// content is the whole object if readOptions.keepContent was set.
	content map[string]any
}

// see updates the live state from an object that was read.
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

// newTargetObject returns the target object of a rendered object, in its namespace on the server.
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

// objectNamed returns the expected object of that name, or a new one. It does not change the map, so concurrent calls are safe.
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

// withoutDuplicates removes the excluded objects and duplicates.
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

// awaitsReadiness reports whether an object of the target becomes ready only after its creation.
func awaitsReadiness(p *targetObject) bool {
	return p.object != nil && (p.object.Rule != nil || !readiness.OnCreation(p.object.GVK.GroupKind()))
}

// isWorkload reports whether the pods of an object must be deleted before the objects that they use.
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

// firstNames returns the names of the first objects of a list.
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
