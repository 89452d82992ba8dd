package cloud

import (
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// simulateApply returns the specification of an object before and after an apply that a
// webhook rejects: the written fields, and all other fields that the apply keeps because
// it did not own them or because they have another owner, too. Lists are taken as a whole,
// and defaults that the API server would restore are not known here.
func simulateApply(live *unstructured.Unstructured, written map[string]any) (before, after map[string]any) {
	ours, theirs := map[string]any{}, map[string]any{}
	for _, e := range live.GetManagedFields() {
		var fields map[string]any
		if e.FieldsV1 == nil || json.NewDecoder(e.FieldsV1.GetRawReader()).Decode(&fields) != nil {
			continue
		}
		owned := theirs
		if e.Manager == kube.FieldManager {
			owned = ours
		}
		mergeFields(owned, mapAt(fields, fieldPrefix+"spec"))
	}
	// The round trip gives numbers the types of decoded JSON, as in written.
	if text, err := json.Marshal(mapAt(live.Object, "spec")); err == nil {
		_ = json.Unmarshal(text, &before)
	}
	return before, simulateFields(before, written, ours, theirs)
}

// mapAt returns the map at a field; nil if there is none.
func mapAt(parent map[string]any, field string) map[string]any {
	m, _ := parent[field].(map[string]any)
	return m
}

// fieldPrefix is the prefix of the names of fields in managedFields.
const fieldPrefix = "f:"

// mergeFields adds the fields of one owner to the fields of others.
func mergeFields(all, more map[string]any) {
	for name, fields := range more {
		if has := mapAt(all, name); has != nil {
			mergeFields(has, mapAt(more, name))
			continue
		}
		all[name] = fields
	}
}

// simulateFields is simulateApply for the fields of one map.
func simulateFields(live, written, ours, theirs map[string]any) map[string]any {
	after := maps.Clone(live)
	if after == nil {
		after = map[string]any{}
	}
	for name := range live {
		_, stays := written[name]
		_, was := ours[fieldPrefix+name]
		_, shared := theirs[fieldPrefix+name]
		switch inner := mapAt(live, name); {
		case stays || !was:
		case inner == nil && !shared:
			delete(after, name)
		case inner != nil:
			after[name] = simulateFields(inner, nil, mapAt(ours, fieldPrefix+name), mapAt(theirs, fieldPrefix+name))
			if len(mapAt(after, name)) == 0 {
				delete(after, name)
			}
		}
	}
	for name, value := range written {
		after[name] = value
		if inner, has := mapAt(written, name), mapAt(live, name); inner != nil && has != nil {
			after[name] = simulateFields(has, inner, mapAt(ours, fieldPrefix+name), mapAt(theirs, fieldPrefix+name))
		}
	}
	return after
}
