package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Conditions returns status.conditions in the order of the object.
func Conditions(obj *unstructured.Unstructured) []vnfm.Condition {
	all, _ := conditionsAt(obj, "status", "conditions")
	return all
}

// Condition returns one of status.conditions; empty if unset.
func Condition(obj *unstructured.Unstructured, kind string) vnfm.Condition {
	return ofType(kind, Conditions(obj))
}

func conditionsAt(obj *unstructured.Unstructured, path ...string) (all []vnfm.Condition, found bool) {
	list, found, _ := unstructured.NestedSlice(obj.Object, path...)
	all = make([]vnfm.Condition, 0, len(list))
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		field := func(name string) string { s, _ := fields[name].(string); return s }
		generation, _ := fields["observedGeneration"].(int64)
		all = append(all, vnfm.Condition{Type: field("type"), Status: field("status"), Reason: field("reason"), Message: field("message"), Generation: generation})
	}
	return all, found
}

func ofType(kind string, all []vnfm.Condition) vnfm.Condition {
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}
	return vnfm.Condition{}
}
