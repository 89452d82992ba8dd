package kube

import "maps"

// SetNested sets a nested value in root. It copies the maps on the path, but changes root itself.
func SetNested(root map[string]any, value any, path ...string) {
	for _, field := range path[:len(path)-1] {
		next := Merged(root[field], nil)
		root[field] = next
		root = next
	}
	root[path[len(path)-1]] = value
}

// Merged returns a new map with the entries of both; entries of extra win. A base that is not a map
// has no entries.
func Merged(base any, extra map[string]any) map[string]any {
	old, _ := base.(map[string]any)
	out := make(map[string]any, len(old)+len(extra))
	maps.Copy(out, old)
	maps.Copy(out, extra)
	return out
}
