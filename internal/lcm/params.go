package lcm

import "encoding/json"

// normalise gives parameters the shape that they have after a round trip through
// a record, where every number is a float64.
func normalise(params map[string]any) map[string]any {
	raw, err := json.Marshal(params)
	if err != nil {
		return params
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return params
	}
	return out
}
