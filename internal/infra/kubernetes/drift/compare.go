package drift

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxDriftPaths is the maximum number of fields in the result of Describe.
const maxDriftPaths = 10

// Describe names the changed fields of an object and, if known, the field managers that changed them. It never shows a value.
func Describe(paths []string, by ...string) string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	more := ""
	if n := len(paths) - maxDriftPaths; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
		paths = paths[:maxDriftPaths]
	}
	if len(by) > 0 {
		more += " (changed by " + strings.Join(by, ", ") + ")"
	}
	return vnfm.Drifted + strings.Join(paths, ", ") + more
}

// Differences compares fields that the driver no longer owns with the live object and returns the paths of changed values.
func Differences(candidates []Unowned, live map[string]any) []string {
	var c comparison
	for _, u := range candidates {
		value, present := locate(live, u.Path)
		c.compare(u.Path, u.Value, value, present)
	}
	return c.different
}

// locate returns the live value at a path; false if it is missing.
func locate(live any, path FieldPath) (any, bool) {
	for _, s := range path {
		if s.kind == stepField {
			fields, ok := live.(map[string]any)
			if !ok {
				return nil, false
			}
			if live, ok = fields[s.field]; !ok {
				return nil, false
			}
			continue
		}
		items, ok := live.([]any)
		if !ok {
			return nil, false
		}
		i := slices.IndexFunc(items, s.matches)
		if s.kind == stepIndex {
			i = s.index
		}
		if i < 0 || i >= len(items) {
			return nil, false
		}
		live = items[i]
	}
	return live, true
}

// matches reports whether the step selects this element of a list.
func (s step) matches(item any) bool {
	switch s.kind {
	case stepKey:
		fields, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range s.key {
			if live, present := fields[name]; !present || !sameScalar(value, live) {
				return false
			}
		}
		return true
	case stepValue:
		return sameScalar(s.value, item)
	default:
		return false
	}
}

// comparison collects the paths of fields that differ.
type comparison struct{ different []string }

func (c *comparison) differs(path FieldPath) { c.different = append(c.different, path.String()) }

// compare compares an applied value with the live one. It ignores additional fields of the live value, which are defaults or belong
// to other managers.
func (c *comparison) compare(path FieldPath, want, live any, present bool) {
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if present && live != nil && !ok {
			c.differs(path)
			return
		}
		if l == nil {
			c.compareAbsent(path, w)
			return
		}
		c.compareMap(path, w, l)
	case []any:
		l, ok := live.([]any)
		if present && live != nil && !ok {
			c.differs(path)
			return
		}
		c.compareList(path, w, l)
	default:
		if !present || live == nil {
			if !isZeroValue(want) {
				c.differs(path)
			}
			return
		}
		if !sameValue(path.Fields(), want, live) {
			c.differs(path)
		}
	}
}

// compareAbsent compares a map with a missing one. A map of zero values is no difference. Otherwise it reports the path of the map,
// which is clearer than the paths of all its fields.
func (c *comparison) compareAbsent(path FieldPath, want map[string]any) {
	var below comparison
	below.compareMap(path, want, nil)
	// An empty emptyDir still selects the type of a volume.
	union := len(want) == 0 && len(path) > 0 && path[len(path)-1].field == "emptyDir"
	if union || len(below.different) > 0 {
		c.differs(path)
	}
}

func (c *comparison) compareMap(path FieldPath, want, live map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, present := live[name]
		c.compare(path.with(step{field: name}), want[name], value, present)
	}
	if !isSelector(path) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(live)) {
		if _, ok := want[name]; !ok {
			c.differs(path.with(step{field: name}))
		}
	}
}

// isSelector reports whether a map is a selector or part of a selector. Selectors have no defaults and are owned as a whole, so
// additions are changes.
func isSelector(path FieldPath) bool {
	return slices.ContainsFunc(path.Fields(), func(name string) bool {
		return name == "selector" || name == "nodeSelector" || strings.HasSuffix(name, "Selector")
	})
}

func (c *comparison) compareList(path FieldPath, want, live []any) {
	if len(want) != len(live) {
		c.differs(path)
		return
	}
	for i, s := range steps(want, live) {
		value, present := locate(live, FieldPath{s})
		c.compare(path.with(s), want[i], value, present)
	}
}

// steps returns, for each element of want, the step to the matching element of live: by a usual key if both lists have one, else by
// index.
func steps(want, live []any) []step {
	byKey := slices.IndexFunc(usualKeys, func(name string) bool { return isKey(want, name) && isKey(live, name) })
	out := make([]step, len(want))
	for i, item := range want {
		out[i] = step{kind: stepIndex, index: i}
		if byKey >= 0 {
			name := usualKeys[byKey]
			fields, _ := item.(map[string]any)
			out[i] = step{kind: stepKey, key: map[string]any{name: fields[name]}}
		}
	}
	return out
}

// isZeroValue reports whether a scalar is equivalent to a missing field.
func isZeroValue(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case bool:
		return !x
	case int64:
		return x == 0
	case float64:
		return x == 0
	default:
		return false
	}
}

// quantityFields are the fields whose values, directly or in nested fields, are quantities: "1" equals "1000m".
var quantityFields = []string{
	"allocatable", "averageValue", "capacity", "default", "defaultRequest", "divisor", "hard", "limits",
	"max", "maxLimitRequestRatio", "min", "overhead", "podFixed", "requests", "sizeLimit", "storage",
}

// sameValue reports whether two scalars are equal for the API server.
func sameValue(fields []string, want, live any) bool {
	if sameScalar(want, live) {
		return true
	}
	if len(fields) == 0 || fields[0] == "metadata" {
		return false
	}
	if fields[0] == "data" || fields[0] == "binaryData" {
		return sameBase64(fields[0], want, live)
	}
	// Ports and percentages can be numbers or strings.
	_, wantNumber := number(want)
	_, liveNumber := number(live)
	if wantNumber != liveNumber && fmt.Sprint(want) == fmt.Sprint(live) {
		return true
	}
	if !slices.ContainsFunc(fields, func(name string) bool { return slices.Contains(quantityFields, name) }) {
		return false
	}
	a, errA := resource.ParseQuantity(fmt.Sprint(want))
	b, errB := resource.ParseQuantity(fmt.Sprint(live))
	return errA == nil && errB == nil && a.Cmp(b) == 0
}

// sameBase64 compares base64 values of binaryData and ignores line breaks in them. In data a line break is a change.
func sameBase64(field string, want, live any) bool {
	if field != "binaryData" {
		return false
	}
	a, okA := want.(string)
	b, okB := live.(string)
	if !okA || !okB {
		return false
	}
	rawA, errA := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(a), ""))
	rawB, errB := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(b), ""))
	return errA == nil && errB == nil && string(rawA) == string(rawB)
}
