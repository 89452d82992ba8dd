package vnfm

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// MergeValues merges values of a chart over others: maps are merged, all else is replaced.
func MergeValues(base, overrides map[string]any) map[string]any {
	return mergeMaps(base, overrides, func(_, above []any) []any { return above })
}

// MergeDeep merges values over others down to the elements of lists, so that one value deep
// inside can be given apart from the rest. Maps are merged key by key. Lists whose elements
// are all maps with a name that is unique in its list are merged by it: those of the same
// name are merged, others are appended. All other lists are merged element by element: null
// leaves what is below, what is longer is appended. All else is replaced.
func MergeDeep(base, overrides map[string]any) map[string]any {
	return mergeMaps(base, overrides, mergeLists)
}

func mergeMaps(base, overrides map[string]any, lists func(below, above []any) []any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range overrides {
		out[key] = mergeValue(out[key], value, lists)
	}
	return out
}

func mergeValue(below, above any, lists func(below, above []any) []any) any {
	switch value := above.(type) {
	case map[string]any:
		if under, ok := below.(map[string]any); ok {
			return mergeMaps(under, value, lists)
		}
	case []any:
		if under, ok := below.([]any); ok {
			return lists(under, value)
		}
	}
	return above
}

func mergeLists(below, above []any) []any {
	out := slices.Clone(below)
	under, named := namesOf(below)
	overrides, alsoNamed := namesOf(above)
	for n, value := range above {
		at := n
		if named && alsoNamed {
			at = slices.Index(under, overrides[n])
		}
		switch {
		case at < 0 || at >= len(out):
			out = append(out, value)
		case value != nil:
			out[at] = mergeValue(out[at], value, mergeLists)
		}
	}
	return out
}

// namesOf are the names of the elements of a list; ok is false unless each is a map with one
// of its own.
func namesOf(list []any) (names []string, ok bool) {
	for _, item := range list {
		fields, _ := item.(map[string]any)
		name, _ := fields["name"].(string)
		if name == "" || slices.Contains(names, name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// Changed are the ways, by keys and indices, to the values of out that are not in base: those
// that MergeDeep has put there.
func Changed(base, out any) [][]string {
	var ways [][]string
	changed(base, out, nil, &ways)
	return ways
}

func changed(base, out any, way []string, ways *[][]string) {
	step := func(key string) []string { return append(slices.Clone(way), key) }
	switch value := out.(type) {
	case map[string]any:
		if under, ok := base.(map[string]any); ok || len(value) > 0 {
			for _, key := range slices.Sorted(maps.Keys(value)) {
				if _, had := under[key]; !had && value[key] == nil {
					*ways = append(*ways, step(key))
					continue
				}
				changed(under[key], value[key], step(key), ways)
			}
			return
		}
	case []any:
		if under, ok := base.([]any); ok || len(value) > 0 {
			for n, item := range value {
				var below any
				if n < len(under) {
					below = under[n]
				}
				changed(below, item, step(strconv.Itoa(n)), ways)
			}
			return
		}
	default:
		if reflect.DeepEqual(base, out) {
			return
		}
	}
	*ways = append(*ways, way)
}
