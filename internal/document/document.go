// Package document copies and changes documents. A document is what YAML or JSON decodes to: maps, lists and scalars.
package document

import "encoding/json"

// Rewrite copies a document and replaces values in the copy. It calls change for each value, for a map or a list before the values in it.
// If change returns true, its result replaces the value, and nothing in that is visited.
func Rewrite(v any, change func(v any) (any, bool)) any {
	if out, changed := change(v); changed {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = Rewrite(item, change)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Rewrite(item, change)
		}
		return out
	default:
		return v
	}
}

// Map copies a document with a function of all that is neither a map nor a list.
func Map(v any, scalar func(any) any) any {
	return Rewrite(v, func(v any) (any, bool) {
		switch v.(type) {
		case map[string]any, []any:
			return nil, false
		default:
			return scalar(v), true
		}
	})
}

// Clone copies a document.
func Clone(v any) any {
	return Rewrite(v, func(any) (any, bool) { return nil, false })
}

// Numbers copies a document that was decoded with json.Decoder.UseNumber. Numbers become int64 where they can, else float64.
func Numbers(v any) any {
	return Map(v, func(v any) any {
		n, ok := v.(json.Number)
		if !ok {
			return v
		}
		if i, err := n.Int64(); err == nil {
			return i
		}
		f, _ := n.Float64()
		return f
	})
}
