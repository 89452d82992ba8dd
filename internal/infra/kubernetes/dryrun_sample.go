package kubernetes

import (
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
)

// maxNewTried is how many new objects a dry run tries. The apply writes all of them a moment later: a try of each would cost
// hundreds of requests to find what objects of the same form have shown already.
const maxNewTried = 64

// sample leaves out new objects when there are more than maxNewTried: of each kind and form at least one stays as long as there is
// room, in the order of the package. Objects that change are all tried, since an error in one of them interrupts what runs.
func sample(objects []*render.Object, isNew func(*render.Object) bool) []*render.Object {
	var added []*render.Object
	for _, o := range objects {
		if isNew(o) {
			added = append(added, o)
		}
	}
	if len(added) <= maxNewTried {
		return objects
	}
	seen := map[string]bool{}
	first := func(o *render.Object) int {
		form := formOf(o)
		if seen[form] {
			return 1
		}
		seen[form] = true
		return 0
	}
	rank := make(map[*render.Object]int, len(added))
	for _, o := range added {
		rank[o] = first(o)
	}
	slices.SortStableFunc(added, func(a, b *render.Object) int { return rank[a] - rank[b] })
	left := make(map[*render.Object]bool, len(added)-maxNewTried)
	for _, o := range added[maxNewTried:] {
		left[o] = true
	}
	return slices.DeleteFunc(objects, func(o *render.Object) bool { return left[o] })
}

// freeFields hold keys of the author's choice: two objects that differ in them alone have the same form.
var freeFields = map[string]bool{
	"annotations": true, "binaryData": true, "data": true, "labels": true, "matchLabels": true,
	"nodeSelector": true, "selector": true, "stringData": true,
}

// formOf is the kind of an object and the paths of the fields that it sets.
func formOf(o *render.Object) string {
	paths := map[string]bool{}
	collectPaths(paths, "", o.Content)
	return o.GVK.String() + "\n" + strings.Join(slices.Sorted(maps.Keys(paths)), "\n")
}

func collectPaths(paths map[string]bool, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for field, value := range v {
			if freeFields[field] {
				value = nil
			}
			collectPaths(paths, path+"."+field, value)
		}
	case []any:
		for _, element := range v {
			collectPaths(paths, path+"[]", element)
		}
	}
	paths[path] = true
}
