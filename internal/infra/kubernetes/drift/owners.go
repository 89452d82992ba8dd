package drift

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// HeldField is a field of the driver with a co-owner.
type HeldField struct {
	Path    FieldPath
	Manager string
}

// isForeign reports whether an entry belongs to another writer of the specification. Entries of sub-resources, which controllers
// write, do not.
func isForeign(e *metav1.ManagedFieldsEntry) bool {
	return e.Subresource == "" && !slices.Contains([]string{kube.FieldManager, kube.ScaleFieldManager, kube.RestartFieldManager}, e.Manager)
}

// WithoutCoOwners returns the entries without writers that also own a field of the driver; nil if there is no such writer. Fields
// that only such a writer has set stay in the object, without an owner.
func WithoutCoOwners(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	applied, err := Owned(entries, kube.FieldManager)
	if err != nil {
		return nil, err
	}
	applied = applied.Leaves()
	var kept []metav1.ManagedFieldsEntry
	for i := range entries {
		if isForeign(&entries[i]) {
			set, err := Owned(entries[i:i+1], entries[i].Manager)
			if err != nil {
				return nil, err
			}
			if !set.Intersection(applied).Empty() {
				continue
			}
		}
		kept = append(kept, entries[i])
	}
	if len(kept) == len(entries) {
		return nil, nil
	}
	return kept, nil
}

// FindHeld returns the fields of the driver that are missing in the body and that an apply of the body would keep, because another
// writer owns them too. A missing element or map is one field.
func FindHeld(body map[string]any, entries []metav1.ManagedFieldsEntry) ([]HeldField, error) {
	applied, err := Owned(entries, kube.FieldManager)
	if err != nil {
		return nil, err
	}
	var held []HeldField
	for i := range entries {
		if !isForeign(&entries[i]) {
			continue
		}
		set, err := Owned(entries[i:i+1], entries[i].Manager)
		if err != nil {
			return nil, err
		}
		set.Intersection(applied).Iterate(func(path fieldpath.Path) {
			if !holds(body, path) {
				held = append(held, HeldField{Path: pathOf(path), Manager: entries[i].Manager})
			}
		})
	}
	slices.SortStableFunc(held, func(a, b HeldField) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
	var whole []HeldField
	for _, f := range held {
		if !slices.ContainsFunc(whole, func(w HeldField) bool {
			return w.Path.elements().Compare(f.Path.elements()[:min(len(w.Path), len(f.Path))]) == 0
		}) {
			whole = append(whole, f)
		}
	}
	return whole, nil
}

// ChangedBy returns the field managers, other than the driver, that own fields at these paths, in alphabetical order.
func ChangedBy(entries []metav1.ManagedFieldsEntry, paths []string) ([]string, error) {
	var out []string
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "status" || slices.Contains(out, e.Manager) || slices.Contains([]string{kube.FieldManager, kube.ScaleFieldManager, kube.RestartFieldManager}, e.Manager) {
			continue
		}
		set, err := Owned(entries[i:i+1], e.Manager)
		if err != nil {
			return nil, err
		}
		owns := false
		set.Leaves().Iterate(func(path fieldpath.Path) {
			leaf := pathOf(path).String()
			owns = owns || slices.ContainsFunc(paths, func(path string) bool { return within(leaf, path) || within(path, leaf) })
		})
		if owns {
			out = append(out, e.Manager)
		}
	}
	slices.Sort(out)
	return out, nil
}

// within reports whether a path is equal to another path or below it.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// holds reports whether content has a field. An element without a key field matches, because the server defaults the key field.
func holds(content any, path fieldpath.Path) bool {
	for _, pe := range path {
		if pe.FieldName != nil {
			fields, _ := content.(map[string]any)
			value, ok := fields[*pe.FieldName]
			if !ok {
				return false
			}
			content = value
			continue
		}
		items, _ := content.([]any)
		found := false
		for i, item := range items {
			if elementMatches(pe, item, i, false) {
				content, found = item, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// pathOf converts a path of a field set into a FieldPath.
func pathOf(path fieldpath.Path) FieldPath {
	out := make(FieldPath, 0, len(path))
	for _, pe := range path {
		if pe.FieldName != nil {
			out = append(out, step{field: *pe.FieldName})
			continue
		}
		out = append(out, stepOf(pe))
	}
	return out
}

// TakeOver moves fields and all fields below them from all other managers to the driver's entry of applies.
func TakeOver(entries []metav1.ManagedFieldsEntry, paths []FieldPath) ([]metav1.ManagedFieldsEntry, error) {
	moved := fieldpath.NewSet()
	for _, path := range paths {
		moved.Insert(path.elements())
	}
	return takeOver(entries, moved, func(*metav1.ManagedFieldsEntry) bool { return true })
}

// TakeOverAll moves all fields of a manager, except in sub-resources, to the driver's entry of applies; nil if there are none.
func TakeOverAll(entries []metav1.ManagedFieldsEntry, manager string) ([]metav1.ManagedFieldsEntry, error) {
	ofManager := func(e *metav1.ManagedFieldsEntry) bool { return e.Manager == manager && e.Subresource == "" }
	moved := fieldpath.NewSet()
	for i := range entries {
		if !ofManager(&entries[i]) {
			continue
		}
		set, err := Owned(entries[i:i+1], manager)
		if err != nil {
			return nil, err
		}
		moved = moved.Union(set)
	}
	if moved.Empty() {
		return nil, nil
	}
	return takeOver(entries, moved, ofManager)
}

// takeOver moves fields to the driver's entry of applies from the entries that the function from selects.
func takeOver(entries []metav1.ManagedFieldsEntry, moved *fieldpath.Set, from func(*metav1.ManagedFieldsEntry) bool) ([]metav1.ManagedFieldsEntry, error) {
	var out []metav1.ManagedFieldsEntry
	for _, e := range entries {
		set, err := Owned([]metav1.ManagedFieldsEntry{e}, e.Manager)
		if err != nil {
			return nil, err
		}
		switch {
		case e.Manager == kube.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "":
			set = set.Union(moved)
		case from(&e):
			set = set.RecursiveDifference(moved)
		}
		if set.Empty() {
			continue
		}
		text, err := set.ToJSON()
		if err != nil {
			return nil, err
		}
		e.FieldsV1 = metav1.NewFieldsV1(string(text))
		out = append(out, e)
	}
	return out, nil
}
