package drift

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// ForeignElement is an element of a keyed list with which another manager replaced an element of the driver.
type ForeignElement struct {
	Path FieldPath
	// Manager is one of its owners.
	Manager string
	// ImplicitKeys are changed key fields that the manifest leaves to the server's defaults. A comparison with the manifest
	// cannot find their change.
	ImplicitKeys []FieldPath
}

// SplitLists splits lost lists into their elements if other managers own elements by key. The driver's own set does not show whether
// a completely lost list is keyed.
func SplitLists(missing []Unowned, entries []metav1.ManagedFieldsEntry) ([]Unowned, error) {
	isList := func(u Unowned) bool { _, ok := u.Value.([]any); return ok }
	if !slices.ContainsFunc(missing, isList) {
		return missing, nil
	}
	var managers []string
	for i := range entries {
		managers = append(managers, entries[i].Manager)
	}
	all, err := Owned(entries, managers...)
	if err != nil {
		return nil, err
	}
	out := make([]Unowned, 0, len(missing))
	for _, u := range missing {
		elements := listElements(setBelow(all, u.Path))
		if !isList(u) || !slices.ContainsFunc(elements, func(pe fieldpath.PathElement) bool { return pe.Key != nil }) {
			out = append(out, u)
			continue
		}
		items, _ := u.Value.([]any)
		for i, item := range items {
			out = append(out, Unowned{Path: u.Path.with(guessStep(items, i, elements)), Value: item})
		}
	}
	return out, nil
}

// lostList is a list with the elements that the driver has lost.
type lostList struct {
	path     FieldPath
	elements []map[string]any
}

// lostLists finds the lists in lost fields. A lost field has lost all elements of the lists below it.
func lostLists(missing []Unowned) []*lostList {
	var out []*lostList
	byPath := map[string]*lostList{}
	add := func(path FieldPath, item any) {
		fields, ok := item.(map[string]any)
		if !ok {
			return
		}
		g := byPath[path.String()]
		if g == nil {
			g = &lostList{path: path}
			byPath[path.String()] = g
			out = append(out, g)
		}
		g.elements = append(g.elements, fields)
	}
	for _, u := range missing {
		if last := len(u.Path) - 1; u.Path[last].kind != stepField {
			add(u.Path[:last], u.Value)
			continue
		}
		eachList(u.Path, u.Value, add)
	}
	return out
}

// LostElements reports whether the lost fields contain elements of lists of objects.
func LostElements(missing []Unowned) bool { return len(lostLists(missing)) > 0 }

// eachList calls found for the elements of all lists in a value, but not of lists inside elements.
func eachList(path FieldPath, value any, found func(list FieldPath, item any)) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachList(path.with(step{field: name}), v[name], found)
		}
	case []any:
		for _, item := range v {
			found(path, item)
		}
	}
}

// FindForeign returns the elements that replaced lost list elements. Other managers own these elements, and the driver does not.
func FindForeign(missing []Unowned, entries []metav1.ManagedFieldsEntry, content map[string]any) ([]ForeignElement, error) {
	own, err := Owned(entries, kube.FieldManager, kube.ScaleFieldManager, kube.RestartFieldManager)
	if err != nil {
		return nil, err
	}
	foreign := map[string]*fieldpath.Set{}
	for i := range entries {
		if m := entries[i].Manager; !isOwnManager(m) && foreign[m] == nil {
			if foreign[m], err = Owned(entries, m); err != nil {
				return nil, err
			}
		}
	}
	var out []ForeignElement
	for lists := lostLists(missing); len(lists) > 0; lists = lists[1:] {
		g := lists[0]
		list, ok := locate(content, g.path)
		items, isList := list.([]any)
		if !ok || !isList {
			continue
		}
		var candidates []*element
		for _, manager := range slices.Sorted(maps.Keys(foreign)) {
			candidates = append(candidates, foreignElements(items, setBelow(foreign[manager], g.path), setBelow(own, g.path), manager, candidates)...)
		}
		for _, m := range matchElements(g, candidates, len(items) == 1) {
			at := g.path.with(stepOf(m.element.element))
			if !m.unchanged {
				out = append(out, ForeignElement{Path: at, Manager: m.element.manager, ImplicitKeys: m.implicitKeys(g.path)})
				continue
			}
			// An element that only changed its owner is not foreign, but elements inside it may be.
			for _, name := range slices.Sorted(maps.Keys(m.lost)) {
				lists = append(lists, lostLists([]Unowned{{Path: at.with(step{field: name}), Value: m.lost[name]}})...)
			}
		}
	}
	return out, nil
}

func isOwnManager(name string) bool {
	return name == kube.FieldManager || name == kube.ScaleFieldManager || name == kube.RestartFieldManager
}

// setBelow returns the part of a set below a path.
func setBelow(set *fieldpath.Set, path FieldPath) *fieldpath.Set {
	for _, pe := range path.elements() {
		set = set.WithPrefix(pe)
	}
	return set
}

// element is an element of a live list that another manager owns.
type element struct {
	element fieldpath.PathElement
	fields  map[string]any
	manager string
}

// hasKey reports whether a field identifies the elements of the list.
func (e *element) hasKey(name string) bool {
	return slices.ContainsFunc(*e.element.Key, func(f value.Field) bool { return f.Name == name })
}

// foreignElements returns the elements of a list that are in the set of another manager, but neither in the driver's own set nor
// in known.
func foreignElements(items []any, set, own *fieldpath.Set, manager string, known []*element) []*element {
	mine := listElements(own)
	var out []*element
	for _, pe := range listElements(set) {
		if pe.Key == nil || slices.ContainsFunc(mine, pe.Equals) ||
			slices.ContainsFunc(known, func(e *element) bool { return e.element.Equals(pe) }) {
			continue
		}
		i := slices.IndexFunc(items, func(item any) bool { return elementMatches(pe, item, -1, true) })
		if i < 0 {
			continue
		}
		fields, _ := items[i].(map[string]any)
		out = append(out, &element{element: pe, fields: fields, manager: manager})
	}
	return out
}

// match is a lost element with its replacement. It is unchanged if only the owner changed.
type match struct {
	lost      map[string]any
	element   *element
	unchanged bool
}

// implicitKeys returns the key fields that the lost element omits, or none if another key field has changed.
func (m match) implicitKeys(list FieldPath) []FieldPath {
	var out []FieldPath
	for _, f := range *m.element.element.Key {
		switch value, given := m.lost[f.Name]; {
		case !given:
			at := guessStep([]any{m.lost}, 0, []fieldpath.PathElement{m.element.element})
			out = append(out, list.with(at).with(step{field: f.Name}))
		case !sameScalar(value, f.Value.Unstructured()):
			return nil
		}
	}
	return out
}

// matchElements pairs lost elements with their replacements. Single is set when the live list has one element.
func matchElements(g *lostList, candidates []*element, single bool) []match {
	var out []match
	lost := slices.Clone(g.elements)
	claim := func(same bool, accept func(lost map[string]any, e *element) bool) {
		lost = slices.DeleteFunc(lost, func(fields map[string]any) bool {
			i := slices.IndexFunc(candidates, func(e *element) bool { return accept(fields, e) })
			if i < 0 {
				return false
			}
			out = append(out, match{fields, candidates[i], same})
			candidates = slices.Delete(candidates, i, i+1)
			return true
		})
	}
	claim(true, func(fields map[string]any, e *element) bool { return elementMatches(e.element, fields, -1, true) })
	claim(false, replaces)
	if single && len(g.elements) == 1 {
		// The only element of a list replaces the only lost one, unless their names differ.
		claim(false, func(fields map[string]any, e *element) bool {
			return !e.hasKey("name") && fields["name"] == nil && e.fields["name"] == nil
		})
	}
	return out
}

// replaces reports whether this element is the lost one with a changed key: it has the same name or, if names are keys or missing,
// the same other fields.
func replaces(lost map[string]any, e *element) bool {
	if !e.hasKey("name") && (lost["name"] != nil || e.fields["name"] != nil) {
		return sameScalar(lost["name"], e.fields["name"])
	}
	rest := maps.Clone(lost)
	maps.DeleteFunc(rest, func(name string, _ any) bool { return e.hasKey(name) })
	var c comparison
	c.compareMap(nil, rest, e.fields)
	return len(rest) > 0 && len(c.different) == 0
}
