package render

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/manifests"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// manifest is one document, or one item of a List, with its place in its file.
type manifest struct {
	manifests.Manifest
	// shared is set for an object that several instances use: the first owner keeps it.
	shared bool
	// later is set when the object depends on results of random functions that do not exist yet.
	later bool
}

// decodeRendered reads all documents of a rendered template.
func decodeRendered(b *budget.Budget, file, text string, ps *vnfm.Problems) []manifest {
	return asWritten(manifests.Decode(b, file, []byte(text), true, ps))
}

func asWritten(all []manifests.Manifest) []manifest {
	out := make([]manifest, 0, len(all))
	for _, m := range all {
		out = append(out, manifest{Manifest: m})
	}
	return out
}

// typeName names the type of a JSON value, for problems.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, float64, int, int32, uint64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	default:
		return "a value of another type"
	}
}

// serverFields are the fields of metadata that the server writes. Exported manifests contain them.
var serverFields = []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// annotationLastApplied is an annotation of kubectl in exported manifests. It repeats the whole object, Secret data included, and
// is never applied.
const annotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// renderObject checks the fields that every object must have and drops the fields that the server writes.
func renderObject(m *manifest, ps *vnfm.Problems) *Object {
	before := len(*ps)
	refuse := func(path []string, format string, args ...any) {
		n := m.At(path...)
		ps.Errorf(m.File, n.Line, n.Column, format, args...)
	}
	o := &Object{Content: m.Content, written: m.Written, Shared: m.shared, later: m.later, file: m.File, line: m.Node.Line, column: m.Node.Column}
	apiVersion := requiredText(m.Content, "apiVersion", nil, refuse)
	kind := requiredText(m.Content, "kind", nil, refuse)
	if apiVersion != "" {
		gv, err := schema.ParseGroupVersion(apiVersion)
		if err != nil || gv.Version == "" || strings.Count(apiVersion, "/") > 1 {
			//findings:says write the group and the version, for example apps/v1, or v1 for the core group
			refuse([]string{"apiVersion"}, "apiVersion %q is not group/version", apiVersion)
		}
		o.GVK = gv.WithKind(kind)
	}
	meta, ok := m.Content["metadata"].(map[string]any)
	if _, present := m.Content["metadata"]; !present && o.IsRequest() {
		meta, ok = map[string]any{}, true
	}
	if !ok {
		if value, present := m.Content["metadata"]; present {
			refuse([]string{"metadata"}, "metadata must be a mapping, not %s", typeName(value))
		} else {
			//findings:says add metadata with a name
			refuse(nil, "metadata.name is missing")
		}
		return nil
	}
	if len(*ps) == before {
		o.warnings = checkTypes(m, o.GVK, ps)
	}
	if len(*ps) > before {
		return nil
	}
	if _, named := meta["name"]; named || !o.needsNoName() {
		o.Name = objectName(meta, refuse)
	}
	// Charts write an empty namespace where a value is missing.
	if o.namespace, _ = meta["namespace"].(string); o.namespace == "" {
		delete(meta, "namespace")
	}
	checkMetadata(meta, refuse)
	o.Rule = annotatedRule(o.GVK.GroupKind(), meta, refuse)
	dropAnnotated(m.Content, meta, refuse)
	dropEmptyBundles(o.GVK.GroupKind(), m.Content)
	if o.isSecret() {
		normalizeSecret(m, refuse)
	}
	if len(*ps) > before {
		return nil
	}
	delete(m.Content, "status")
	for _, field := range serverFields {
		delete(meta, field)
	}
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		delete(annotations, annotationLastApplied)
	}
	o.Key = ObjectKey(o.GVK, o.namespace, o.Name)
	o.Wave = WaveOf(o.GVK.Group, o.GVK.Kind)
	return o
}

// requiredText returns a field that must be a string; at is the path of its parent.
func requiredText(parent map[string]any, field string, at []string, refuse func([]string, string, ...any)) string {
	path := strings.Join(append(append([]string{}, at...), field), ".")
	value, present := parent[field]
	if !present {
		refuse(at, "%s is missing", path)
		return ""
	}
	text, ok := value.(string)
	if !ok {
		refuse(append(append([]string{}, at...), field), "%s must be a string, not %s", path, typeName(value))
		return ""
	}
	if text == "" {
		refuse(append(append([]string{}, at...), field), "%s is empty", path)
	}
	return text
}

func objectName(meta map[string]any, refuse func([]string, string, ...any)) string {
	_, named := meta["name"]
	if _, generated := meta["generateName"]; generated && !named {
		refuse([]string{"metadata", "generateName"}, "metadata.generateName is not supported: give metadata.name, so that the object is the same one at every apply")
		return ""
	}
	name := requiredText(meta, "name", []string{"metadata"}, refuse)
	if strings.ContainsAny(name, "/ %") {
		refuse([]string{"metadata", "name"}, "metadata.name %q is not the name of an object", name)
	}
	return name
}

// checkMetadata rejects labels and annotations that only the driver may set.
func checkMetadata(meta map[string]any, refuse func([]string, string, ...any)) {
	for _, field := range []string{"labels", "annotations"} {
		for _, name := range slices.Sorted(maps.Keys(textMap(meta, field))) {
			if strings.HasPrefix(name, vnfm.LabelPrefix) && (field == "labels" || !slices.Contains(packageAnnotations, name)) {
				refuse([]string{"metadata", field, name}, "metadata.%s: the prefix %s is reserved for the VNF manager", field, vnfm.LabelPrefix)
			}
		}
	}
}

// normalizeSecret moves stringData into data, like the API server, and removes line breaks from the base64 of data. Problems never
// show a value.
func normalizeSecret(m *manifest, refuse func(path []string, format string, args ...any)) {
	data, plain := textMap(m.Content, "data"), textMap(m.Content, "stringData")
	if len(data)+len(plain) == 0 {
		delete(m.Content, "stringData")
		return
	}
	out := make(map[string]any, len(data)+len(plain))
	for name, text := range data {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			refuse([]string{"data", name}, "data of the Secret is not base64 at key %q; plain text belongs under stringData", name)
			continue
		}
		out[name] = base64.StdEncoding.EncodeToString(raw)
	}
	for name, text := range plain {
		out[name] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	m.Content["data"] = out
	delete(m.Content, "stringData")
}

// textMap returns a map of strings. The types of the object were checked before.
func textMap(content map[string]any, field string) map[string]string {
	entries, _ := content[field].(map[string]any)
	out := make(map[string]string, len(entries))
	for name, value := range entries {
		out[name], _ = value.(string)
	}
	return out
}
