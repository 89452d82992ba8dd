package helm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Inputs say which values a chart takes, as far as it tells: by its values.yaml and by its values.schema.json.
type Inputs struct {
	// Defaults are the values of values.yaml.
	Defaults map[string]any
	schema   map[string]any
}

// anyItem is the step of a way from a list to its elements.
const anyItem = "[]"

// Inputs returns what the chart says of its values.
func (c *Chart) Inputs() (*Inputs, error) {
	in := &Inputs{Defaults: map[string]any{}}
	for name, each := range map[string]struct {
		text []byte
		into *map[string]any
	}{"values.yaml": {c.defaults, &in.Defaults}, "values.schema.json": {c.schema, &in.schema}} {
		if len(each.text) == 0 {
			continue
		}
		if err := json.Unmarshal(each.text, each.into); err != nil {
			return nil, fmt.Errorf("reading %s of the chart %s: %w", name, c.described.Name, err)
		}
	}
	return in, nil
}

// Takes reports whether the chart knows the value at a path such as "nodeGroups.[].name": it has a default, be it null, or the schema
// describes it.
func (in *Inputs) Takes(path string) bool {
	way := strings.Split(path, ".")
	return has(in.Defaults, way) || in.describes(in.schema, way, 0)
}

// Default returns the value that the chart itself has at a path; nil for none.
func (in *Inputs) Default(path string) any {
	var value any = in.Defaults
	for _, step := range strings.Split(path, ".") {
		fields, _ := value.(map[string]any)
		value = fields[step]
	}
	return value
}

func has(value any, way []string) bool {
	if len(way) == 0 {
		return true
	}
	if items, ok := value.([]any); ok && way[0] == anyItem {
		return slices.ContainsFunc(items, func(item any) bool { return has(item, way[1:]) })
	}
	fields, _ := value.(map[string]any)
	below, ok := fields[way[0]]
	return ok && has(below, way[1:])
}

// deepestSchema bounds the references that are followed: they may lead in a circle.
const deepestSchema = 50

// describes reports whether a schema has a description of its own for the value at a way.
func (in *Inputs) describes(schema map[string]any, way []string, depth int) bool {
	if len(way) == 0 || schema == nil || depth > deepestSchema {
		return len(way) == 0 && schema != nil
	}
	if target, ok := schema["$ref"].(string); ok && in.describes(in.referred(target), way, depth+1) {
		return true
	}
	for _, several := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[several].([]any)
		for _, each := range list {
			if one, _ := each.(map[string]any); in.describes(one, way, depth+1) {
				return true
			}
		}
	}
	if way[0] == anyItem {
		items, _ := schema["items"].(map[string]any)
		return in.describes(items, way[1:], depth+1)
	}
	properties, _ := schema["properties"].(map[string]any)
	below, _ := properties[way[0]].(map[string]any)
	return in.describes(below, way[1:], depth+1)
}

// referred returns the part of the schema that a reference inside it names; nil for others.
func (in *Inputs) referred(reference string) map[string]any {
	inside, ok := strings.CutPrefix(reference, "#/")
	if !ok {
		return nil
	}
	at := in.schema
	for _, step := range strings.Split(inside, "/") {
		at, _ = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)].(map[string]any)
	}
	return at
}
