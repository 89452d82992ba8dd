package hot

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// maxNodes and maxDepth bound what aliases can multiply a template to.
	maxNodes = 100_000
	maxDepth = 100

	mergeKey = "<<"
	// pathMark separates the keys on the way to a value.
	pathMark = "\x00"
)

// template is one file of a BaseHOT with the places of what stands in it.
type template struct {
	file string
	text string
	body map[string]any
	// at are the places of all keys and items, by the way to them.
	at map[string]vnfm.Place
}

// words of YAML 1.1 for true and false, as PyYAML knows them.
var (
	yamlTrue  = []string{"yes", "Yes", "YES", "on", "On", "ON"}
	yamlFalse = []string{"no", "No", "NO", "off", "Off", "OFF"}
)

// parse reads a template the way that Heat does, which reads YAML 1.1 by PyYAML: a
// heat_template_version without quotes stays text, and yes, no, on and off without
// quotes are true and false. The one thing that is not done are numbers in base 60: who
// writes 52:54:00:12:34:56 means the address.
func parse(file string, data []byte, ps *vnfm.Problems) *template {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var root, more yaml.Node
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			ps.Errorf(file, 0, 0, "the template is empty")
			return nil
		}
		line, text := vnfm.YAMLError(err)
		ps.Errorf(file, line, 0, "not valid YAML: %s", text)
		return nil
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		ps.Errorf(file, more.Line, more.Column, "the file has more than one YAML document; a template is one")
		return nil
	}
	r := reader{t: &template{file: file, text: string(data), at: map[string]vnfm.Place{}}, ps: ps}
	body, ok := r.value(root.Content[0], "", 0).(map[string]any)
	switch {
	case r.failed:
		return nil
	case !ok:
		ps.Errorf(file, root.Content[0].Line, root.Content[0].Column, "a template must be a map")
		return nil
	}
	r.t.body = body
	return r.t
}

// reader makes values of YAML nodes and notes their places.
type reader struct {
	t      *template
	ps     *vnfm.Problems
	nodes  int
	failed bool
}

func (r *reader) value(n *yaml.Node, at string, depth int) any {
	if r.nodes++; r.nodes > maxNodes || depth > maxDepth {
		if !r.failed {
			r.ps.Errorf(r.t.file, n.Line, n.Column, "the template is too large, or its aliases contain themselves")
		}
		r.failed = true
		return nil
	}
	if _, seen := r.t.at[at]; !seen {
		r.t.at[at] = vnfm.Place{File: r.t.file, Line: n.Line, Column: n.Column}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, at, depth+1)
	case yaml.MappingNode:
		return r.mapping(n, at, depth)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			list = append(list, r.value(item, join(at, strconv.Itoa(i)), depth+1))
		}
		return list
	default:
		return scalar(n)
	}
}

func (r *reader) mapping(n *yaml.Node, at string, depth int) map[string]any {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Value == mergeKey {
			continue
		}
		if _, twice := out[key.Value]; twice {
			r.ps.Errorf(r.t.file, key.Line, key.Column, "the key %q stands in this map already", key.Value)
			r.failed = true
			continue
		}
		below := join(at, key.Value)
		r.t.at[below] = vnfm.Place{File: r.t.file, Line: key.Line, Column: key.Column}
		out[key.Value] = r.value(n.Content[i+1], below, depth+1)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != mergeKey {
			continue
		}
		merged := r.value(n.Content[i+1], at, depth+1)
		maps, ok := merged.([]any)
		if !ok {
			maps = []any{merged}
		}
		for _, m := range maps {
			m, _ := m.(map[string]any)
			for key, v := range m {
				if _, own := out[key]; !own {
					out[key] = v
				}
			}
		}
	}
	return out
}

// scalar resolves a scalar.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
	case "!!str":
		switch {
		case n.Style != 0:
		case slices.Contains(yamlTrue, n.Value):
			return true
		case slices.Contains(yamlFalse, n.Value):
			return false
		}
	}
	return n.Value
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + pathMark + key
}

// place is where a value is written.
func (t *template) place(keys ...string) vnfm.Place {
	at := ""
	for _, k := range keys {
		at = join(at, k)
	}
	return t.at[at]
}

func errorAt(ps *vnfm.Problems, at vnfm.Place, format string, args ...any) {
	ps.Errorf(at.File, at.Line, at.Column, format, args...)
}

// section is one of the maps of a template: resources, parameters, outputs.
func (t *template) section(name string) map[string]any { return mapOf(t.body[name]) }

// mapOf is a map, or nil for anything else; lookups in nil find nothing.
func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
