package render

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Objects that serve only VDUs on another VIM are applied there: autoscalers and objects that select pods, such as Services.
// Objects that pods refer to, such as ConfigMaps, are applied on both VIMs, because other pods may use them.

// selectPart drops the objects that belong on other VIMs. The only Kubernetes VIM of an instance has all objects of a chart.
func (r *Rendering) selectPart(part *vnfm.Part, ps *vnfm.Problems) {
	if part == nil {
		return
	}
	if part.Empty() {
		r.Objects, r.VDUs, r.States, r.Release = nil, nil, nil, nil
		return
	}
	if r.Release != nil && part.Alone {
		return
	}
	if r.Release != nil {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "vim_connections",
			Summary:   "a Helm chart cannot be placed on several Kubernetes VIMs",
			Detail:    "a release is in one cluster; give each VIM an instance of its own",
		})
		return
	}
	placed, referred := map[*Object]bool{}, map[*Object]bool{}
	for _, o := range r.Objects {
		if slices.Contains(part.Manifests, o.file) {
			placed[o] = true
		}
	}
	for _, id := range part.VDUIDs {
		if o := r.VDUs[id]; o != nil {
			placed[o] = true
		}
	}
	for _, o := range r.Objects {
		if placed[o] && o.podTemplate() != nil {
			r.eachReference(o, func(other *Object) { referred[other] = true })
		}
	}
	for _, o := range r.Objects {
		if !placed[o] && r.servesOnly(o, placed) {
			placed[o] = true
		}
	}
	isHere := func(o *Object) bool { return placed[o] || referred[o] }
	if part.Rest {
		isHere = func(o *Object) bool { return !placed[o] }
	}
	r.Objects = slices.DeleteFunc(r.Objects, func(o *Object) bool { return !isHere(o) })
	for _, id := range slices.Sorted(maps.Keys(r.VDUs)) {
		if !isHere(r.VDUs[id]) {
			delete(r.VDUs, id)
			delete(r.States, id)
		}
	}
}

// podTemplate is the pod template of a workload, or a bare Pod itself; nil if the object creates no pods.
func (o *Object) podTemplate() map[string]any {
	path := []string{"spec", "template"}
	switch {
	case o.GVK.Group == "" && o.GVK.Kind == "Pod":
		return o.Content
	case o.GVK.Group == "batch" && o.GVK.Kind == "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template"}
	case o.Wave != WaveWorkload:
		return nil
	}
	template, _ := o.Field(path...).(map[string]any)
	return template
}

// eachReference calls found for every object of the package that the pods of a workload need at their start.
func (r *Rendering) eachReference(workload *Object, found func(*Object)) {
	spec, _ := workload.podTemplate()["spec"].(map[string]any)
	look := func(kind, name string) {
		for _, o := range r.Objects {
			if o.GVK.Group == "" && o.GVK.Kind == kind && o.Name == name && o.NamespaceIn(r.namespace) == workload.NamespaceIn(r.namespace) {
				found(o)
			}
		}
	}
	eachConfiguration(spec, look)
	if name, ok := spec["serviceAccountName"].(string); ok {
		look("ServiceAccount", name)
	}
	secrets, _ := spec["imagePullSecrets"].([]any)
	for _, item := range secrets {
		secret, _ := item.(map[string]any)
		if name, ok := secret["name"].(string); ok {
			look("Secret", name)
		}
	}
	volumes, _ := spec["volumes"].([]any)
	for _, item := range volumes {
		volume, _ := item.(map[string]any)
		if name, ok := fieldOf(volume, "persistentVolumeClaim", "claimName").(string); ok {
			look("PersistentVolumeClaim", name)
		}
	}
	for _, o := range r.Objects {
		// A StatefulSet names the Service that gives its pods DNS names.
		if o.GVK.Kind == "Service" && workload.Field("spec", "serviceName") == o.Name {
			found(o)
		}
	}
}

// selectorPaths maps the kinds that select pods to the path of their selector.
var selectorPaths = map[schema.GroupKind][]string{
	{Kind: "Service"}: {"spec", "selector"},
	{Group: "policy", Kind: "PodDisruptionBudget"}:      {"spec", "selector", "matchLabels"},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: {"spec", "podSelector", "matchLabels"},
}

// servesOnly reports whether an object serves placed workloads and no others.
func (r *Rendering) servesOnly(o *Object, placed map[*Object]bool) bool {
	var serves func(workload *Object) bool
	if ref, ok := scaleTarget(o); ok {
		serves = func(w *Object) bool { return w.GVK.Kind == ref.kind && w.Name == ref.name }
	} else if path, ok := selectorPaths[o.GVK.GroupKind()]; ok {
		wanted, _ := o.Field(path...).(map[string]any)
		serves = func(w *Object) bool {
			own, _ := fieldOf(w.podTemplate(), "metadata", "labels").(map[string]any)
			for name, value := range wanted {
				if own[name] != value {
					return false
				}
			}
			return len(wanted) > 0
		}
	} else {
		return false
	}
	follows := false
	for _, w := range r.Objects {
		if w.podTemplate() == nil || w.NamespaceIn(r.namespace) != o.NamespaceIn(r.namespace) || !serves(w) {
			continue
		}
		if !placed[w] {
			return false
		}
		follows = true
	}
	return follows
}
