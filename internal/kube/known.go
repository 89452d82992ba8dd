package kube

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Known is the state of an object that the caller of a wait has read already: from a list of its
// kind, or from the answer to a later write.
type Known struct {
	Object *unstructured.Unstructured
	// Listed is the resource version of the list.
	Listed string
}

// MaxKnown bounds the objects of a kind that a wait follows from known states. With more objects,
// the changes since the list may outnumber the objects.
const MaxKnown = 100

// grows reports whether the resource versions of a kind are increasing numbers. The API server's
// own kinds guarantee that; a dot in the group may mean a custom resource.
func grows(r Resource) bool { return !strings.Contains(r.GVK.Group, ".") }

// knownIn returns the known states of the objects of a scope, and the version to watch its
// collection from; "" if a state is unknown.
func knownIn(s *scope, known map[int]Known) (objects map[string]*unstructured.Unstructured, from string) {
	if len(s.byName) > MaxKnown || !grows(s.resource) {
		return nil, ""
	}
	objects = make(map[string]*unstructured.Unstructured, len(s.byName))
	oldest := uint64(0)
	for name, i := range s.byName {
		k := known[i]
		listed, ok := versionNumber(k.Listed)
		if !ok || k.Object == nil {
			return nil, ""
		}
		if _, ok := versionNumber(k.Object.GetResourceVersion()); !ok {
			return nil, ""
		}
		objects[name] = k.Object
		if from == "" || listed < oldest {
			oldest, from = listed, k.Listed
		}
	}
	return objects, from
}

// olderThan reports whether an event about an object is not newer than the known state.
func olderThan(event, known *unstructured.Unstructured) bool {
	if event == nil || known == nil {
		return false
	}
	a, ok := versionNumber(event.GetResourceVersion())
	b, numbers := versionNumber(known.GetResourceVersion())
	return ok && numbers && a <= b
}

func versionNumber(version string) (uint64, bool) {
	n, err := strconv.ParseUint(version, 10, 64)
	return n, err == nil && n > 0
}
