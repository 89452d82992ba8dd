package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Pods read their ConfigMaps and Secrets when they start, so that a change of these alone
// changes nothing that runs. The pod template of a workload therefore carries the digest of
// the package's ConfigMaps and Secrets that its pods read, and their change is rolled out
// like a change of the image. The digest is part of the rendered object: the plan shows the
// change of the workload.

// rolling are the kinds that roll out a changed pod template. That of a Job is immutable.
var rolling = map[schema.GroupKind]bool{
	{Group: "apps", Kind: "DaemonSet"}:   true,
	{Group: "apps", Kind: "Deployment"}:  true,
	{Group: "apps", Kind: "StatefulSet"}: true,
}

// annotationConfiguration is set in the pod template of a workload and holds the
// digest of the ConfigMaps and Secrets that its pods read.
const annotationConfiguration = vnfm.LabelPrefix + "configuration"

// configurationHex is how many hexadecimal digits of that digest are set.
const configurationHex = 16

var templateAnnotations = []string{"spec", "template", "metadata", "annotations"}

// markConfiguration writes the digest of what their pods read into all workloads.
func (r *Rendering) markConfiguration(key []byte, ps *vnfm.Problems) {
	sources := map[Identity]*Object{}
	for _, o := range r.Objects {
		if o.GVK.Group == "" && (o.GVK.Kind == "ConfigMap" || o.GVK.Kind == "Secret") {
			sources[Identity{Kind: o.GVK.Kind, Namespace: o.NamespaceIn(r.namespace), Name: o.Name}] = o
		}
	}
	for _, o := range r.Objects {
		if !rolling[o.GVK.GroupKind()] || len(sources) == 0 {
			continue
		}
		used := map[string]any{}
		eachConfiguration(o.Field("spec", "template", "spec"), func(kind, name string) {
			if source, ok := sources[Identity{Kind: kind, Namespace: o.NamespaceIn(r.namespace), Name: name}]; ok {
				content, secret := configurationContent(source, key)
				used[kind+" "+name] = content
				o.keyed, o.later = o.keyed || secret, o.later || source.later
			}
		})
		if len(used) == 0 || o.later || (o.keyed && len(key) == 0) {
			continue
		}
		text, err := json.Marshal(used)
		if err != nil {
			o.Problem(ps, fmt.Sprintf("the digest of what %s reads cannot be computed: %v", o.Key, err), "")
			continue
		}
		sum := sha256.Sum256(text)
		kube.SetNested(o.Content, hex.EncodeToString(sum[:])[:configurationHex], append(templateAnnotations, annotationConfiguration)...)
	}
}

// configurationContent is what pods see of a ConfigMap or Secret, with keyed digests of
// secrets, and whether it has any.
func configurationContent(o *Object, key []byte) (content []any, secret bool) {
	fields, secret := keyedContent(o, key)
	return []any{fields["data"], fields["binaryData"]}, secret
}

// eachConfiguration calls found for every ConfigMap and Secret that a pod template uses, in
// the environment or as a volume.
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
