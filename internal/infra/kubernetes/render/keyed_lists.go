package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// listKeys returns the fields that identify the entries of a list in server-side apply, nil for other lists. Strategic merge patches
// use one field; server-side apply adds a second field for ports and topology constraints.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
func listKeys(f reflect.StructField) []string {
	first := f.Tag.Get("patchMergeKey")
	if first == "" || f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() != reflect.Struct {
		return nil
	}
	keys := []string{first}
	for i := range f.Type.Elem().NumField() {
		name, _, _ := strings.Cut(f.Type.Elem().Field(i).Tag.Get("json"), ",")
		if name != first && (name == "protocol" || name == "whenUnsatisfiable") {
			keys = append(keys, name)
		}
	}
	return keys
}

// unique returns a list without entries of equal keys: server-side apply rejects such entries, whereas kubectl and Helm 3 send them.
// Equal entries become one. Of several plain values of an environment variable the last is used, as the kubelet does. Other
// entries of equal keys are errors.
func (c *typeCheck) unique(keys []string, v any, at []yamlpos.Step) any {
	items, ok := v.([]any)
	if !ok {
		return v
	}
	first, dropped := map[string]int{}, map[int]bool{}
	for i, item := range items {
		key, ok := entryKey(item, keys)
		if !ok {
			continue
		}
		before, twice := first[key]
		switch {
		case !twice:
			first[key] = i
		case reflect.DeepEqual(items[before], item):
			dropped[i] = true
		case lastWins(items[before], item, items):
			c.warn(step(at, yamlpos.Step{Index: i}), fmt.Sprintf("%s has %s twice", fieldPath(at), key), "containers get the last value; remove the others")
			first[key], dropped[before] = i, true
		default:
			line := c.manifest.ValueAt(step(at, yamlpos.Step{Index: before})...).Line
			c.errors = append(c.errors, c.problem(vnfm.SeverityError, step(at, yamlpos.Step{Index: i}), fmt.Sprintf("%s has %s twice", fieldPath(at), key),
				fmt.Sprintf("the API server identifies its entries by %s; merge the two, the first one is in line %d", strings.Join(keys, " and "), line)))
		}
	}
	out := make([]any, 0, len(items))
	for i, item := range items {
		if !dropped[i] {
			out = append(out, item)
		}
	}
	return out
}

// entryKey writes the key of a list entry; false if the entry lacks a key field.
func entryKey(item any, keys []string) (string, bool) {
	entry, _ := item.(map[string]any)
	parts := make([]string, 0, len(keys))
	for _, key := range keys {
		value, ok := entry[key]
		if !ok && key == "protocol" {
			value, ok = "TCP", true
		}
		if !ok {
			return "", false
		}
		parts = append(parts, fmt.Sprintf("%s %v", key, value))
	}
	return strings.Join(parts, ", "), true
}

// lastWins reports whether two entries are plain values of one environment variable to which no other value refers.
func lastWins(a, b any, all []any) bool {
	name, ok := plainVariable(a)
	if _, other := plainVariable(b); !ok || !other {
		return false
	}
	return !slices.ContainsFunc(all, func(item any) bool {
		entry, _ := item.(map[string]any)
		text, _ := entry["value"].(string)
		return strings.Contains(text, "$("+name+")")
	})
}

func plainVariable(item any) (string, bool) {
	entry, _ := item.(map[string]any)
	name, named := entry["name"].(string)
	_, text := entry["value"].(string)
	return name, named && len(entry) == 1 || named && text && len(entry) == 2
}
