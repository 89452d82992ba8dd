// Package drift finds the fields of an object that other field managers have changed. It compares the applied object with the
// field ownership that the API server records (metadata.managedFields), and with the live values of fields that the driver no
// longer owns. It sends no requests.
package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// step is one step of a FieldPath: a field of a map, or an element of a list by its key fields, its value (in sets) or its index.
type step struct {
	field string
	key   map[string]any
	value any
	index int
	kind  stepKind
}

type stepKind int

const (
	stepField stepKind = iota
	stepKey
	stepValue
	stepIndex
)

// FieldPath leads from an object to one of its fields.
type FieldPath []step

// with returns a longer path and leaves p as it is.
func (p FieldPath) with(s step) FieldPath { return append(slices.Clip(p), s) }

// Fields returns the names of the fields on the path.
func (p FieldPath) Fields() []string {
	out := make([]string, 0, len(p))
	for _, s := range p {
		if s.kind == stepField {
			out = append(out, s.field)
		}
	}
	return out
}

// elements converts the path into the type of field sets.
func (p FieldPath) elements() fieldpath.Path {
	out := make(fieldpath.Path, 0, len(p))
	for _, s := range p {
		switch s.kind {
		case stepField:
			out = append(out, fieldpath.FieldNameElement(s.field))
		case stepKey:
			var key []any
			for _, name := range slices.Sorted(maps.Keys(s.key)) {
				key = append(key, name, s.key[name])
			}
			out = append(out, fieldpath.KeyElementByFields(key...))
		case stepValue:
			out = append(out, fieldpath.ValueElement(value.NewValueInterface(s.value)))
		case stepIndex:
			out = append(out, fieldpath.IndexElement(s.index))
		}
	}
	return out
}

// String writes the path as "spec.template.spec.containers[name=amf].image". It hides the values of set elements, which may be
// secrets.
func (p FieldPath) String() string {
	var b strings.Builder
	for _, s := range p {
		switch s.kind {
		case stepField:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.field)
		case stepKey:
			parts := make([]string, 0, len(s.key))
			for _, name := range slices.Sorted(maps.Keys(s.key)) {
				parts = append(parts, fmt.Sprintf("%s=%v", name, s.key[name]))
			}
			b.WriteString("[" + strings.Join(parts, ",") + "]")
		case stepValue:
			b.WriteString("[]")
		case stepIndex:
			fmt.Fprintf(&b, "[%d]", s.index)
		}
	}
	return b.String()
}

// Unowned is an applied field that the driver no longer owns, with its applied value.
type Unowned struct {
	Path  FieldPath
	Value any
}

// Owned returns the fields that the managers own. Fields that an admission webhook changed in a request of the driver are updates
// under the driver's name; they are included, because they are no foreign changes.
func Owned(entries []metav1.ManagedFieldsEntry, managers ...string) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	for i := range entries {
		e := &entries[i]
		if !slices.Contains(managers, e.Manager) || e.FieldsV1 == nil {
			continue
		}
		var set fieldpath.Set
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("managed fields of %s: %w", e.Manager, err)
		}
		all = all.Union(&set)
	}
	return all, nil
}

// OwnsPath reports whether one of the managers owns the field at a path of field names.
func OwnsPath(entries []metav1.ManagedFieldsEntry, path []string, managers ...string) (bool, error) {
	set, err := Owned(entries, managers...)
	if err != nil {
		return false, err
	}
	p := make(fieldpath.Path, 0, len(path))
	for _, name := range path {
		p = append(p, fieldpath.FieldNameElement(name))
	}
	return set.Has(p), nil
}

// OwnsReplicas reports whether a manager owns the replicas, and whether kube.ScaleFieldManager does.
func OwnsReplicas(entries []metav1.ManagedFieldsEntry, path []string, manager string) (held, byScale bool, err error) {
	if held, err = OwnsPath(entries, path, manager); err != nil {
		return false, false, err
	}
	byScale, err = OwnsPath(entries, path, kube.ScaleFieldManager)
	return held, byScale, err
}

// FindUnowned returns the fields of an applied object that are not in the set.
func FindUnowned(applied map[string]any, set *fieldpath.Set) []Unowned {
	w := walker{}
	for _, name := range slices.Sorted(maps.Keys(applied)) {
		switch name {
		case "apiVersion", "kind": // The server keeps no owner of these.
		case "metadata":
			meta, _ := applied[name].(map[string]any)
			for _, field := range slices.Sorted(maps.Keys(meta)) {
				if field == "name" || field == "namespace" {
					continue
				}
				inMeta := childSet(set, name)
				if entries, isMap := meta[field].(map[string]any); isMap && (field == "labels" || field == "annotations") {
					// Each entry is reported individually, even if the driver owns none.
					w.value(FieldPath{{field: name}, {field: field}}, entries, childSet(inMeta, field), false)
					continue
				}
				w.field(FieldPath{{field: name}}, field, meta[field], inMeta)
			}
		default:
			w.field(nil, name, applied[name], set)
		}
	}
	return w.found
}

// childSet returns the part of a set below a field; it may be empty.
func childSet(set *fieldpath.Set, field string) *fieldpath.Set {
	if below, ok := set.Children.Get(fieldpath.FieldNameElement(field)); ok {
		return below
	}
	return fieldpath.NewSet()
}

type walker struct{ found []Unowned }

func (w *walker) miss(path FieldPath, value any) {
	w.found = append(w.found, Unowned{Path: path, Value: value})
}

func (w *walker) field(parent FieldPath, name string, value any, set *fieldpath.Set) {
	path := parent.with(step{field: name})
	pe := fieldpath.FieldNameElement(name)
	if below, ok := set.Children.Get(pe); ok {
		w.value(path, value, below, set.Members.Has(pe))
		return
	}
	if !set.Members.Has(pe) {
		w.miss(path, value)
	}
}

// value checks the children of a field or element that has children in the set.
func (w *walker) value(path FieldPath, value any, set *fieldpath.Set, member bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			w.field(path, name, v[name], set)
		}
	case []any:
		w.list(path, v, set)
	default:
		if !member {
			w.miss(path, value)
		}
	}
}

// list checks the elements of an associative list or of a set. Atomic lists have no children in a field set.
func (w *walker) list(path FieldPath, items []any, set *fieldpath.Set) {
	elements := listElements(set)
	taken := make([]bool, len(elements))
	match := make([]int, len(items))
	for i := range match {
		match[i] = -1
	}
	// A manifest may omit a key field that the server defaults. Exact matches come first; items without the key field get the
	// remaining elements.
	for _, exact := range []bool{true, false} {
		for i, item := range items {
			if match[i] >= 0 {
				continue
			}
			for j, pe := range elements {
				if !taken[j] && elementMatches(pe, item, i, exact) {
					match[i], taken[j] = j, true
					break
				}
			}
		}
	}
	for i, item := range items {
		if match[i] < 0 {
			w.miss(path.with(guessStep(items, i, elements)), item)
			continue
		}
		pe := elements[match[i]]
		below, ok := set.Children.Get(pe)
		if !ok {
			continue // A scalar of a set, or an element that is owned as a whole.
		}
		w.value(path.with(stepOf(pe)), item, below, set.Members.Has(pe))
	}
}

// listElements returns the elements of a list in a set.
func listElements(set *fieldpath.Set) []fieldpath.PathElement {
	var out []fieldpath.PathElement
	add := func(pe fieldpath.PathElement) {
		if pe.FieldName == nil && !slices.ContainsFunc(out, pe.Equals) {
			out = append(out, pe)
		}
	}
	set.Members.Iterate(add)
	set.Children.Iterate(add)
	return out
}

// elementMatches reports whether a path element selects a list item. Unless exact is set, missing key fields of the item match,
// because the server may have defaulted them.
func elementMatches(pe fieldpath.PathElement, item any, index int, exact bool) bool {
	switch {
	case pe.Key != nil:
		fields, ok := item.(map[string]any)
		if !ok {
			return false
		}
		common := false
		for _, f := range *pe.Key {
			value, present := fields[f.Name]
			switch {
			case !present && exact:
				return false
			case present && !sameScalar(value, f.Value.Unstructured()):
				return false
			case present:
				common = true
			}
		}
		return common
	case pe.Value != nil:
		return sameScalar(item, (*pe.Value).Unstructured())
	case pe.Index != nil:
		return *pe.Index == index
	default:
		return false
	}
}

// stepOf converts a path element of a list into a step.
func stepOf(pe fieldpath.PathElement) step {
	switch {
	case pe.Key != nil:
		key := make(map[string]any, len(*pe.Key))
		for _, f := range *pe.Key {
			key[f.Name] = f.Value.Unstructured()
		}
		return step{kind: stepKey, key: key}
	case pe.Value != nil:
		return step{kind: stepValue, value: (*pe.Value).Unstructured()}
	default:
		return step{kind: stepIndex, index: *pe.Index}
	}
}

// usualKeys are the fields that usually identify the elements of a list.
var usualKeys = []string{"name", "mountPath", "devicePath", "containerPort", "port", "topologyKey", "key", "ip", "uid", "type"}

// guessStep returns a step to an item that no field set contains: by a usual key, or by the key fields of other elements of the
// list.
func guessStep(items []any, index int, elements []fieldpath.PathElement) step {
	fields, ok := items[index].(map[string]any)
	if !ok {
		if _, isList := items[index].([]any); isList {
			return step{kind: stepIndex, index: index}
		}
		return step{kind: stepValue, value: items[index]}
	}
	for _, name := range usualKeys {
		if isKey(items, name) {
			return step{kind: stepKey, key: map[string]any{name: fields[name]}}
		}
	}
	for _, pe := range elements {
		if pe.Key == nil {
			continue
		}
		key := map[string]any{}
		for _, f := range *pe.Key {
			if value, present := fields[f.Name]; present {
				key[f.Name] = value
			}
		}
		if len(key) > 0 {
			return step{kind: stepKey, key: key}
		}
	}
	return step{kind: stepIndex, index: index}
}

// isKey reports whether all items have a field, each with a different value.
func isKey(items []any, name string) bool {
	seen := make(map[any]bool, len(items))
	for _, item := range items {
		fields, _ := item.(map[string]any)
		value, present := fields[name]
		if !present {
			return false
		}
		switch value.(type) {
		case string, int64, float64, bool:
		default:
			return false
		}
		if seen[value] {
			return false
		}
		seen[value] = true
	}
	return len(items) > 0
}

// sameScalar compares scalars like JSON: 1 equals 1.0.
func sameScalar(a, b any) bool {
	if fa, ok := number(a); ok {
		fb, ok := number(b)
		return ok && fa == fb
	}
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	default:
		return a == nil && b == nil
	}
}

func number(v any) (float64, bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case int:
		return float64(x), true
	case float64:
		return x, true
	default:
		return 0, false
	}
}
