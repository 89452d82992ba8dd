package kubernetes

import (
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
)

// maxNewTried bounds the new objects that a dry run tries. Trying all of them would cost hundreds of requests, and objects of the same
// form have the same errors.
const maxNewTried = 64

// sample removes new objects above maxNewTried. It prefers one object of each kind and form, in the order of the package. It keeps all
// changed objects, because an error in one of them disturbs a running instance.
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

// freeFields are fields whose keys the author chooses. Two objects that differ only in them have the same form.
var freeFields = map[string]bool{
	"annotations": true, "binaryData": true, "data": true, "labels": true, "matchLabels": true,
	"nodeSelector": true, "selector": true, "stringData": true,
}

// formOf returns the kind of an object and the paths of the fields that it sets.
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
