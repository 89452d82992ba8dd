package vnfm

import "maps"

// LaidOver lays values of a chart over others: maps are merged, all else is replaced.
func LaidOver(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range over {
		below, wasMap := out[key].(map[string]any)
		above, isMap := value.(map[string]any)
		if wasMap && isMap {
			value = LaidOver(below, above)
		}
		out[key] = value
	}
	return out
}
