package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Pods read their ConfigMaps and Secrets when they start, so a change of these alone does not reach running pods. The pod
// template of a workload therefore contains the digest of the package's ConfigMaps and Secrets that its pods read, and their
// change is rolled out like a change of the image. The digest is part of the rendered object, so the plan shows the change of
// the workload.
//
// A ReplicaSet and a ReplicationController keep their pods when the template changes. Their template also contains its own
// digest, which identifies pods of an older template for replacement. A bare Pod has the digest itself and is recreated.

// reading maps the kinds whose pods are replaced when their configuration changes to the path of the pod. Jobs are missing
// because their template is immutable.
var reading = map[schema.GroupKind][]string{
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template"},
	{Kind: "Pod"}:                        nil,
	{Kind: "ReplicationController"}:      {"spec", "template"},
}

// PodOf returns the path of the pod in a kind that has Reads; ok is false for other kinds.
func PodOf(group, kind string) (path []string, ok bool) {
	path, ok = reading[schema.GroupKind{Group: group, Kind: kind}]
	return path, ok
}

// KeepsPods reports whether a kind keeps its pods when its pod template changes.
func KeepsPods(gk schema.GroupKind) bool {
	return gk == schema.GroupKind{Group: "apps", Kind: "ReplicaSet"} || gk == schema.GroupKind{Kind: "ReplicationController"}
}

const (
	// AnnotationConfiguration is the digest of the ConfigMaps and Secrets that the pods read, in the pod template of a workload
	// or on a bare Pod.
	AnnotationConfiguration = vnfm.LabelPrefix + "configuration"
	// AnnotationTemplate is the digest of the pod template, in the template of a kind that keeps its pods.
	AnnotationTemplate = vnfm.LabelPrefix + "template"
)

// markHex is the length of these digests in hexadecimal digits.
const markHex = 16

// markConfiguration writes into each workload the digest of the configuration that its pods read.
func (r *Rendering) markConfiguration(key []byte, ps *vnfm.Problems) {
	sources := map[Identity]*Object{}
	for _, o := range r.Objects {
		if o.GVK.Group == "" && (o.GVK.Kind == "ConfigMap" || o.GVK.Kind == "Secret") {
			sources[Identity{Kind: o.GVK.Kind, Namespace: o.NamespaceIn(r.namespace), Name: o.Name}] = o
		}
	}
	for _, o := range r.Objects {
		pod, reads := reading[o.GVK.GroupKind()]
		if !reads {
			continue
		}
		err := r.markRead(o, pod, sources, key)
		if err == nil && KeepsPods(o.GVK.GroupKind()) {
			err = markTemplate(o, pod, key)
		}
		if err != nil {
			o.Problem(ps, fmt.Sprintf("the digest of what %s reads cannot be computed: %v", o.Key, err), "correct the fields of the object that name what it reads")
		}
	}
}

// markRead writes into a workload the digest of the sources that its pods read.
func (r *Rendering) markRead(o *Object, pod []string, sources map[Identity]*Object, key []byte) error {
	used := map[string]any{}
	eachConfiguration(o.Field(slices.Concat(pod, []string{"spec"})...), func(kind, name string) {
		id := Identity{Kind: kind, Namespace: o.NamespaceIn(r.namespace), Name: name}
		if source, ok := sources[id]; ok {
			content, secret := configurationContent(source, key)
			used[kind+" "+name] = content
			o.reads = append(o.reads, id)
			o.keyed, o.later = o.keyed || secret, o.later || source.later
		}
	})
	if len(used) == 0 {
		return nil
	}
	return o.mark(pod, AnnotationConfiguration, used, key)
}

// Reads are the ConfigMaps and Secrets of the package that the pods of the object read. One that the pods name twice is
// listed twice.
func (o *Object) Reads() []Identity { return o.reads }

// markTemplate writes the digest of a pod template into it.
func markTemplate(o *Object, pod []string, key []byte) error {
	content, secret := keyedContent(o, key)
	o.keyed = o.keyed || secret
	template, ok := fieldOf(content, pod...).(map[string]any)
	if !ok {
		// The API server rejects the object.
		return nil
	}
	return o.mark(pod, AnnotationTemplate, template, key)
}

// mark writes the digest of a value into an annotation of a pod. It writes none while a required key or results of random
// functions are unknown.
func (o *Object) mark(pod []string, annotation string, value any, key []byte) error {
	if o.later || (o.keyed && len(key) == 0) {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	kube.SetNested(o.Content, hex.EncodeToString(sum[:])[:markHex], slices.Concat(pod, []string{"metadata", "annotations", annotation})...)
	return nil
}

// configurationContent returns the data of a ConfigMap or Secret, with keyed digests instead of secrets, and whether it
// contains secrets.
func configurationContent(o *Object, key []byte) (content []any, secret bool) {
	fields, secret := keyedContent(o, key)
	return []any{fields["data"], fields["binaryData"]}, secret
}

// eachConfiguration calls found for every ConfigMap and Secret that a pod spec uses, in the environment or as a volume.
func eachConfiguration(template any, found func(kind, name string)) {
	text := func(value any, path ...string) string {
		fields, _ := value.(map[string]any)
		s, _ := fieldOf(fields, path...).(string)
		return s
	}
	both := func(value any, configMap, secret []string) {
		if name := text(value, configMap...); name != "" {
			found("ConfigMap", name)
		}
		if name := text(value, secret...); name != "" {
			found("Secret", name)
		}
	}
	each := func(value any, field string, call func(item any)) {
		fields, _ := value.(map[string]any)
		items, _ := fields[field].([]any)
		for _, item := range items {
			call(item)
		}
	}
	for _, containers := range []string{"initContainers", "containers"} {
		each(template, containers, func(container any) {
			each(container, "envFrom", func(item any) { both(item, []string{"configMapRef", "name"}, []string{"secretRef", "name"}) })
			each(container, "env", func(item any) {
				both(item, []string{"valueFrom", "configMapKeyRef", "name"}, []string{"valueFrom", "secretKeyRef", "name"})
			})
		})
	}
	each(template, "volumes", func(volume any) {
		both(volume, []string{"configMap", "name"}, []string{"secret", "secretName"})
		fields, _ := volume.(map[string]any)
		each(fields["projected"], "sources", func(item any) { both(item, []string{"configMap", "name"}, []string{"secret", "name"}) })
	})
}
