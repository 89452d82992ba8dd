package helm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// shownSecrets are the paths of the values in options that are not secrets there, although a
// schema of the chart or of a sub-chart says that they are.
func shownSecrets(made *chart.Chart, o Options) []string {
	var out []string
	var visit func(c *chart.Chart, values any)
	visit = func(c *chart.Chart, values any) {
		if root, ok := readSchema(c.Schema); ok {
			d := declared{root: root, visit: func(inside []string) {
				if way := valueWay(c, inside); !o.secret(way) && !slices.Contains(out, strings.Join(way, ".")) {
					out = append(out, strings.Join(way, "."))
				}
			}}
			d.look(root, values, nil)
		}
		fields, _ := values.(map[string]any)
		for _, sub := range c.Dependencies() {
			if own, ok := fields[sub.Name()]; ok {
				visit(sub, own)
			}
		}
	}
	visit(made, plain(o.Values))
	slices.Sort(out)
	return out
}

func readSchema(text []byte) (map[string]any, bool) {
	if len(text) == 0 {
		return nil, false
	}
	var out map[string]any
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&out)
	return out, err == nil
}

// mostSteps bounds how far a schema is followed: it may refer to itself.
const mostSteps = 10_000

// declared finds the values that a schema says are secrets.
type declared struct {
	root  map[string]any
	visit func(way []string)
	steps int
}

// look follows a schema along a value: its properties, items and references within the
// schema, and what it is composed of.
func (d *declared) look(schema map[string]any, value any, way []string) {
	if d.steps++; value == nil || value == "" || d.steps > mostSteps {
		return
	}
	if schema["writeOnly"] == true || schema["format"] == "password" {
		d.visit(way)
		return
	}
	below := func(schema, value any, step ...string) {
		if s, ok := schema.(map[string]any); ok {
			d.look(s, value, append(slices.Clone(way), step...))
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		below(d.resolve(ref), value)
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[word].([]any)
		for _, part := range parts {
			below(part, value)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for _, key := range sortedKeys(value) {
			if property, ok := properties[key]; ok {
				below(property, value[key], key)
			} else {
				below(schema["additionalProperties"], value[key], key)
			}
		}
	case []any:
		for n, item := range value {
			below(schema["items"], item, strconv.Itoa(n))
		}
	}
}

// resolve finds what a reference such as #/$defs/login names; nil when it is elsewhere.
func (d *declared) resolve(ref string) any {
	inside, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var at any = d.root
	for _, step := range strings.Split(inside, "/")[1:] {
		fields, _ := at.(map[string]any)
		at = fields[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}
