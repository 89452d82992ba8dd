package render

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Object is one object of the package as rendered: without the fields that the server
// writes, without the driver's own labels, and without replicas that a VDU or an autoscaler
// decides on.
type Object struct {
	GVK schema.GroupVersionKind
	// namespace is the one that the manifest names; it may be empty.
	namespace, Name string
	Key             string
	// Digest is empty when the target lacks the key that it needs.
	Digest  string
	Content map[string]any
	// keyed is set when the digest depends on the key: the object holds secrets, or its pods
	// read those of the package.
	keyed bool
	Wave  int
	// Scaling is set when a VDU or an autoscaler decides on the replicas, not the manifest.
	Scaling *Scaling
	// Shared is set for an object that several instances use.
	Shared bool
	// Rule says when the object is ready; nil leaves it to its kind.
	Rule *kube.Rule

	file         string
	line, column int
}

func (o *Object) isSecret() bool { return o.GVK.Group == "" && o.GVK.Kind == "Secret" }

// Place is the file and, as far as known, the line of the object.
func (o *Object) Place() string { return vnfm.Problem{File: o.file, Line: o.line}.Location() }

// Problem appends an error at the place of the object.
func (o *Object) Problem(ps *vnfm.Problems, summary, detail string) {
	*ps = append(*ps, vnfm.Problem{File: o.file, Line: o.line, Column: o.column, Summary: summary, Detail: detail})
}

// serverFields are the fields of metadata that the server writes. Exported manifests have
// them.
var serverFields = []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// annotationLastApplied is what kubectl leaves in exported manifests. It repeats the
// whole object, Secret data included, and is never applied.
const annotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// renderObject checks what every object must have and drops the fields that the server
// writes.
func renderObject(m *manifest, ps *vnfm.Problems) *Object {
	before := len(*ps)
	refuse := func(path []string, format string, args ...any) {
		n := m.at(path...)
		ps.Errorf(m.file, n.Line, n.Column, format, args...)
	}
	o := &Object{Content: m.content, Shared: m.shared, file: m.file, line: m.node.Line, column: m.node.Column}
	apiVersion := requiredText(m.content, "apiVersion", nil, refuse)
	kind := requiredText(m.content, "kind", nil, refuse)
	if apiVersion != "" {
		gv, err := schema.ParseGroupVersion(apiVersion)
		if err != nil || gv.Version == "" || strings.Count(apiVersion, "/") > 1 {
			refuse([]string{"apiVersion"}, "apiVersion %q is not group/version", apiVersion)
		}
		o.GVK = gv.WithKind(kind)
	}
	meta, ok := m.content["metadata"].(map[string]any)
	if !ok {
		if value, present := m.content["metadata"]; present {
			refuse([]string{"metadata"}, "metadata must be a mapping, not %s", typeName(value))
		} else {
			refuse(nil, "metadata.name is missing")
		}
		return nil
	}
	o.Name = objectName(meta, refuse)
	if value, present := meta["namespace"]; present {
		if o.namespace, ok = value.(string); !ok || o.namespace == "" {
			refuse([]string{"metadata", "namespace"}, "metadata.namespace must be a string that is not empty")
		}
	}
	checkMetadata(meta, refuse)
	o.Rule = annotatedRule(o.GVK.GroupKind(), meta, refuse)
	if o.isSecret() {
		normalizeSecret(m, refuse)
	}
	if len(*ps) > before {
		return nil
	}
	delete(m.content, "status")
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

// checkMetadata finds labels and annotations that are no strings, the commonest mistake in
// YAML, and those with the driver's prefix that a package may not set.
func checkMetadata(meta map[string]any, refuse func([]string, string, ...any)) {
	for _, field := range []string{"labels", "annotations"} {
		at := func(path []string, format string, args ...any) {
			refuse(append([]string{"metadata"}, path...), "metadata."+format, args...)
		}
		entries, ok := textMap(meta, field, at)
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if strings.HasPrefix(name, vnfm.LabelPrefix) && (field == "labels" || !slices.Contains(packageAnnotations, name)) {
				refuse([]string{"metadata", field, name}, "metadata.%s: the prefix %s is kept for the VNF manager", field, vnfm.LabelPrefix)
			}
		}
	}
}

// ObjectKey is the identity of an object as its manifest writes it:
// "group/version/Kind namespace/name", without group for the core group and
// without namespace when the manifest names none.
func ObjectKey(gvk schema.GroupVersionKind, namespace, name string) string {
	var b strings.Builder
	if gvk.Group != "" {
		b.WriteString(gvk.Group + "/")
	}
	b.WriteString(gvk.Version + "/" + gvk.Kind + " ")
	if namespace != "" {
		b.WriteString(namespace + "/")
	}
	b.WriteString(name)
	return b.String()
}

// Identity identifies an object on the server, whatever version of its API it is written
// in.
type Identity struct {
	Group, Kind, Namespace, Name string
}

// IdentityOf returns the identity of an inventory item.
func IdentityOf(i *vnfm.InventoryItem) Identity {
	return Identity{i.Group, i.Kind, i.Namespace, i.Name}
}
