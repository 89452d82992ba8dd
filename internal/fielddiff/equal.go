package fielddiff

import "reflect"

// Equal compares values of JSON, faster than reflection does, which it leaves other values to.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, present := b[name]
			if !present || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case string, bool, int64, float64, nil:
		return a == b
	default:
		return reflect.DeepEqual(a, b)
	}
}
