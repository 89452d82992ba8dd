package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// object is one object of the package as rendered: without what the server
// writes, without the driver's own labels and without the replicas that a VDU or
// an autoscaler decides on.
type object struct {
	gvk schema.GroupVersionKind
	// namespace is the one that the manifest names; empty for none.
	namespace, name string
	key             string
	// digest is empty when it needs a key that the target does not have.
	digest  string
	content map[string]any
	// keyed is set when the digest depends on the key: the object holds secrets, or its pods
	// read those of the package.
	keyed bool
	wave  int
	// scaling is set when not the manifest but a VDU or an autoscaler says how
	// many replicas there are.
	scaling *scaling
	// shared is set for an object that several instances use.
	shared bool
	// rule says when the object is ready; nil leaves it to its kind.
	rule *kube.Rule

	file         string
	line, column int
}

func (o *object) isSecret() bool { return o.gvk.Group == "" && o.gvk.Kind == "Secret" }

// place is where the object is written, as precisely as that is known.
func (o *object) place() string { return vnfm.Problem{File: o.file, Line: o.line}.Location() }

// problem appends an error at the place of the object.
func (o *object) problem(ps *vnfm.Problems, summary, detail string) {
	*ps = append(*ps, vnfm.Problem{File: o.file, Line: o.line, Column: o.column, Summary: summary, Detail: detail})
}

// rendering is all that a target asks for, computed offline.
type rendering struct {
	objects []*object
	// vdus maps VDU ids to their workloads.
	vdus map[string]*object
	// states is what the VDUs will be.
	states map[string]vnfm.VDUState
	// definitions are the kinds that CustomResourceDefinitions of the package give.
	definitions map[schema.GroupKind]*definition
	// release is set when the source is a Helm chart.
	release *chartRelease
}

// render takes the objects of a target from their source, finds the workloads of
// its VDUs and computes the digests. It needs neither the VIM nor its credentials. What is
// read is taken from the budget.
func render(b *budget.Budget, t *vnfm.Target) (*rendering, vnfm.Problems) {
	var ps vnfm.Problems
	if t.Package.Content == nil {
		ps.Errorf("", 0, 0, "the content of package %q is not at hand", t.Package.ID)
		return nil, ps
	}
	p := readParams(t, &ps)
	r := &rendering{definitions: map[schema.GroupKind]*definition{}}
	if src := sourceOf(t, &p, &ps); src != nil {
		for _, m := range src.manifests(b, t, r, &ps) {
			if o := renderObject(&m, &ps); o != nil {
				r.objects = append(r.objects, o)
			}
		}
	}
	t.Blame(ps)
	r.checkDuplicates(t, &ps)
	for _, o := range r.objects {
		if d := definitionOf(o); d != nil {
			r.definitions[schema.GroupKind{Group: d.group, Kind: d.kind}] = d
		}
	}
	if ps.HasErrors() {
		// What follows would only repeat them: a VDU whose manifest cannot be read
		// has no workload either.
		return r, ps
	}
	r.bindVDUs(t, p.mapping, &ps)
	r.bindAutoscaled(t)
	r.markConfiguration(t, &ps)
	r.setRules(t, &ps)
	r.setDigests(t, &ps)
	r.keep(t, &ps)
	return r, ps
}

// serverFields are fields of metadata that the server writes. Manifests that were
// exported from a cluster have them.
var serverFields = []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// renderObject checks what every object must have and drops what the server writes.
func renderObject(m *manifest, ps *vnfm.Problems) *object {
	before := len(*ps)
	refuse := func(path []string, format string, args ...any) {
		n := m.at(path...)
		ps.Errorf(m.file, n.Line, n.Column, format, args...)
	}
	o := &object{content: m.content, shared: m.shared, file: m.file, line: m.node.Line, column: m.node.Column}
	apiVersion := requiredText(m.content, "apiVersion", nil, refuse)
	kind := requiredText(m.content, "kind", nil, refuse)
	if apiVersion != "" {
		gv, err := schema.ParseGroupVersion(apiVersion)
		if err != nil || gv.Version == "" || strings.Count(apiVersion, "/") > 1 {
			refuse([]string{"apiVersion"}, "apiVersion %q is not group/version", apiVersion)
		}
		o.gvk = gv.WithKind(kind)
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
	o.name = objectName(meta, refuse)
	if value, present := meta["namespace"]; present {
		if o.namespace, ok = value.(string); !ok || o.namespace == "" {
			refuse([]string{"metadata", "namespace"}, "metadata.namespace must be a text that is not empty")
		}
	}
	checkMetadata(meta, refuse)
	o.rule = annotatedRule(o.gvk.GroupKind(), meta, refuse)
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
	o.key = objectKey(o.gvk, o.namespace, o.name)
	o.wave = waveOf(o.gvk.Group, o.gvk.Kind)
	return o
}

// requiredText returns a field that must be a text; at is the path of its parent.
func requiredText(parent map[string]any, field string, at []string, refuse func([]string, string, ...any)) string {
	path := strings.Join(append(append([]string{}, at...), field), ".")
	value, present := parent[field]
	if !present {
		refuse(at, "%s is missing", path)
		return ""
	}
	text, ok := value.(string)
	if !ok {
		refuse(append(append([]string{}, at...), field), "%s must be a text, not %s", path, typeName(value))
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

// checkMetadata finds labels and annotations that the API server would refuse
// for their type, the commonest mistake in YAML, and those kept for the driver,
// which reads some annotations and sets all others.
func checkMetadata(meta map[string]any, refuse func([]string, string, ...any)) {
	for _, field := range []string{"labels", "annotations"} {
		at := func(path []string, format string, args ...any) {
			refuse(append([]string{"metadata"}, path...), "metadata."+format, args...)
		}
		entries, ok := textMap(meta, field, at)
		if !ok {
			continue
		}
		for _, name := range sortedKeys(entries) {
			if strings.HasPrefix(name, prefix) && (field == "labels" || !slices.Contains(packageAnnotations, name)) {
				refuse([]string{"metadata", field, name}, "metadata.%s: the prefix %s is kept for the VNF manager", field, prefix)
			}
		}
	}
}

// checkDuplicates refuses two manifests of one object: which of them would win
// is nobody's intention.
func (r *rendering) checkDuplicates(t *vnfm.Target, ps *vnfm.Problems) {
	home := namespaceOf(t)
	seen := make(map[identity]*object, len(r.objects))
	for _, o := range r.objects {
		id := identity{o.gvk.Group, o.gvk.Kind, o.namespace, o.name}
		if id.namespace == "" {
			id.namespace = home
		}
		first, twice := seen[id]
		if !twice {
			seen[id] = o
			continue
		}
		o.problem(ps, fmt.Sprintf("%s is written twice", o.key), "the first one is in "+first.place())
	}
}

// setDigests computes the digests of all objects.
func (r *rendering) setDigests(t *vnfm.Target, ps *vnfm.Problems) {
	for _, o := range slices.Concat(r.objects, r.hookObjects()) {
		// Nobody knows which objects a template makes of a secret.
		secret := len(t.SecretParams) > 0
		o.keyed = o.keyed || secret
		sum, err := objectDigest(o, t.DigestKey)
		if err != nil {
			o.problem(ps, err.Error(), "")
			continue
		}
		if secret && sum != "" {
			sum = keyedDigest(t.DigestKey, sum)
		}
		o.digest = sum
	}
	if r.release == nil || len(t.DigestKey) == 0 {
		return
	}
	if err := r.release.sumUp(t.DigestKey); err != nil {
		ps.Errorf("", 0, 0, "%v", err)
	}
}

// body returns what is sent to the server: the rendered object in its namespace,
// with the driver's labels, and with replicas when they are given. The rendered
// object is not changed and shared as far as possible.
func (o *object) body(t *vnfm.Target, namespace string, replicas *int64) map[string]any {
	out := merged(o.content, nil)
	meta := merged(o.content["metadata"], nil)
	delete(meta, "namespace")
	if namespace != "" {
		meta["namespace"] = namespace
	}
	stamp(meta, o, t.Instance, t.Package.ID)
	out["metadata"] = meta
	if replicas != nil && o.scaling != nil {
		setCopied(out, *replicas, o.scaling.path)
	}
	return out
}

// setCopied sets a nested field and copies the maps on the way to it.
func setCopied(root map[string]any, value any, path []string) {
	for _, field := range path[:len(path)-1] {
		next := merged(root[field], nil)
		root[field] = next
		root = next
	}
	root[path[len(path)-1]] = value
}

// nested returns a nested value without copying it.
func nested(root map[string]any, path ...string) (any, bool) {
	value, found, err := unstructured.NestedFieldNoCopy(root, path...)
	return value, found && err == nil
}
