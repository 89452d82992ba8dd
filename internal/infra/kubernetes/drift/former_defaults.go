package drift

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// FormerDefaults returns the fields of a live object that the API server has set as defaults for a value that the body changes. Such
// fields are in a map that the body does not contain and of which no other manager owns a field, and a scalar in the parent of the
// map changes. Elements of lists are not searched.
func FormerDefaults(body, live map[string]any, entries []metav1.ManagedFieldsEntry) ([]FieldPath, error) {
	others := fieldpath.NewSet()
	for i := range entries {
		if entries[i].Manager == kube.FieldManager {
			continue
		}
		set, err := Owned(entries[i:i+1], entries[i].Manager)
		if err != nil {
			return nil, err
		}
		others = others.Union(set)
	}
	var out []FieldPath
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if name == "apiVersion" || name == "kind" || name == "metadata" || name == "status" {
			continue
		}
		out = append(out, formerDefaults(FieldPath{{field: name}}, body[name], live[name], childSet(others, name))...)
	}
	return out, nil
}

func formerDefaults(path FieldPath, body, live any, others *fieldpath.Set) (out []FieldPath) {
	want, isMap := body.(map[string]any)
	has, wasMap := live.(map[string]any)
	if !isMap || !wasMap {
		return nil
	}
	changes := false
	for name, value := range want {
		switch former := has[name].(type) {
		case nil, map[string]any, []any:
		default:
			changes = changes || !sameScalar(former, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		below := path.with(step{field: name})
		value, wanted := want[name]
		if wanted {
			out = append(out, formerDefaults(below, value, has[name], childSet(others, name))...)
			continue
		}
		content, isMap := has[name].(map[string]any)
		if changes && isMap && !others.Has(fieldpath.MakePathOrDie(name)) && childSet(others, name).Empty() {
			out = append(out, leaves(below, content)...)
		}
	}
	return out
}

// leaves returns the paths of the fields below a map that are not maps with fields themselves.
func leaves(path FieldPath, content map[string]any) (out []FieldPath) {
	if len(content) == 0 {
		return []FieldPath{path}
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		below := path.with(step{field: name})
		if inner, isMap := content[name].(map[string]any); isMap {
			out = append(out, leaves(below, inner)...)
		} else {
			out = append(out, below)
		}
	}
	return out
}
