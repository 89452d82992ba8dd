package drift

import (
	"maps"
	"slices"
)

// keptElsewhere are the fields that identify an object, and fields that the API server stores under another name or not at all.
var keptElsewhere = []string{"apiVersion", "kind", "metadata", "status", "stringData"}

// Dropped returns the paths of applied fields that are missing in the answer of the API server. The server drops fields of disabled
// features, and fields that the definition of a kind does not have. Empty values are ignored, and so are lists whose length differs
// in the answer.
func Dropped(applied, answer map[string]any) []string {
	content := maps.Clone(applied)
	maps.DeleteFunc(content, func(name string, _ any) bool { return slices.Contains(keptElsewhere, name) })
	var d dropped
	d.find(FieldPath{}, content, answer)
	return d.paths
}

// dropped collects the paths of fields that are missing.
type dropped struct{ paths []string }

func (d *dropped) find(path FieldPath, want, live any) {
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			field := path.with(step{field: name})
			if value := l[name]; value != nil {
				d.find(field, w[name], value)
			} else if !meansNothing(w[name]) {
				d.paths = append(d.paths, field.String())
			}
		}
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(w) {
			return
		}
		for i, s := range steps(w, l) {
			if value, present := locate(l, FieldPath{s}); present {
				d.find(path.with(s), w[i], value)
			}
		}
	}
}

// meansNothing reports whether a value is equivalent to a missing field: a zero value, or a map or list of such values.
func meansNothing(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		for _, below := range x {
			if !meansNothing(below) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(x, func(below any) bool { return !meansNothing(below) })
	default:
		return isZeroValue(v)
	}
}
