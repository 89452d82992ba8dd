package kubernetes

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A VDU that is placed on another VIM takes along what is made for it alone: its
// autoscaler and whatever selects its pods. What its pods refer to, such as a
// ConfigMap, is made on its VIM as well and stays where it was: other pods may use it.

// keep drops the objects of a rendering that the target's VIM does not have.
func (r *rendering) keep(t *vnfm.Target, ps *vnfm.Problems) {
	if t.Part == nil {
		return
	}
	if r.release != nil {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "vim_connections",
			Summary:   "a Helm chart cannot be placed on several VIMs",
			Detail:    "a release is in one cluster; give each VIM an instance of its own",
		})
		return
	}
	placed, referred := map[*object]bool{}, map[*object]bool{}
	for _, o := range r.objects {
		if slices.Contains(t.Part.Manifests, o.file) {
			placed[o] = true
		}
	}
	for _, id := range t.Part.VDUIDs {
		if o := r.vdus[id]; o != nil {
			placed[o] = true
		}
	}
	for _, o := range r.objects {
		if placed[o] && o.podTemplate() != nil {
			r.refer(t, o, func(other *object) { referred[other] = true })
		}
	}
	for _, o := range r.objects {
		if !placed[o] && r.follows(t, o, placed) {
			placed[o] = true
		}
	}
	here := func(o *object) bool { return placed[o] || referred[o] }
	if t.Part.Rest {
		here = func(o *object) bool { return !placed[o] }
	}
	r.objects = slices.DeleteFunc(r.objects, func(o *object) bool { return !here(o) })
	for _, id := range slices.Sorted(maps.Keys(r.vdus)) {
		if !here(r.vdus[id]) {
			delete(r.vdus, id)
			delete(r.states, id)
		}
	}
}

// podTemplate is the template of a workload's pods, or a bare Pod's own; nil when
// the object makes no pods.
func (o *object) podTemplate() map[string]any {
	path := []string{"spec", "template"}
	switch {
	case o.gvk.Group == "" && o.gvk.Kind == "Pod":
		return o.content
	case o.gvk.Group == "batch" && o.gvk.Kind == "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template"}
	case o.wave != waveWorkload:
		return nil
	}
	value, _ := kube.Nested(o.content, path...)
	template, _ := value.(map[string]any)
	return template
}

// refer calls found for every object of the package that the pods of a workload
// cannot start without.
func (r *rendering) refer(t *vnfm.Target, workload *object, found func(*object)) {
	template := workload.podTemplate()
	spec, _ := kube.Nested(template, "spec")
	look := func(kind, name string) {
		for _, o := range r.objects {
			if o.gvk.Group == "" && o.gvk.Kind == kind && o.name == name && o.namespaceIn(t) == workload.namespaceIn(t) {
				found(o)
			}
		}
	}
	readBy(spec, look)
	fields, _ := spec.(map[string]any)
	if name, ok := fields["serviceAccountName"].(string); ok {
		look("ServiceAccount", name)
	}
	secrets, _ := fields["imagePullSecrets"].([]any)
	for _, item := range secrets {
		secret, _ := item.(map[string]any)
		if name, ok := secret["name"].(string); ok {
			look("Secret", name)
		}
	}
	volumes, _ := fields["volumes"].([]any)
	for _, item := range volumes {
		volume, _ := item.(map[string]any)
		if name, ok := kube.Nested(volume, "persistentVolumeClaim", "claimName"); ok {
			text, _ := name.(string)
			look("PersistentVolumeClaim", text)
		}
	}
	for _, o := range r.objects {
		// A StatefulSet names the Service that gives its pods their names.
		if name, ok := kube.Nested(workload.content, "spec", "serviceName"); ok && o.gvk.Kind == "Service" && name == o.name {
			found(o)
		}
	}
}

// selectors are the kinds that are made for the pods they select, with the place of
// the selector.
var selectors = map[schema.GroupKind][]string{
	{Kind: "Service"}: {"spec", "selector"},
	{Group: "policy", Kind: "PodDisruptionBudget"}:      {"spec", "selector", "matchLabels"},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: {"spec", "podSelector", "matchLabels"},
}

// follows reports whether an object is made for placed workloads and for no other.
func (r *rendering) follows(t *vnfm.Target, o *object, placed map[*object]bool) bool {
	var serves func(workload *object) bool
	if ref, ok := scaleTarget(o); ok {
		serves = func(w *object) bool { return w.gvk.Kind == ref.kind && w.name == ref.name }
	} else if path, ok := selectors[o.gvk.GroupKind()]; ok {
		labels, _ := kube.Nested(o.content, path...)
		wanted, _ := labels.(map[string]any)
		serves = func(w *object) bool {
			value, _ := kube.Nested(w.podTemplate(), "metadata", "labels")
			own, _ := value.(map[string]any)
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
	for _, w := range r.objects {
		if w.podTemplate() == nil || w.namespaceIn(t) != o.namespaceIn(t) || !serves(w) {
			continue
		}
		if !placed[w] {
			return false
		}
		follows = true
	}
	return follows
}
