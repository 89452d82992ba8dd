package vnfd

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// function returns the name and the argument of a TOSCA function, or nothing
// when n is none (TOSCA Simple Profile 1.3, clause 4).
func function(n *yaml.Node) (string, *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return "", nil
	}
	switch name := yamlpos.Resolve(n.Content[0]).Value; name {
	case "get_input", "get_property", "get_attribute", "get_artifact", "get_operation_output", "get_nodes_of_type", "concat", "join", "token":
		return name, yamlpos.Resolve(n.Content[1])
	}
	return "", nil
}

// firstText is the argument of a function, or the first of its arguments.
func firstText(arg *yaml.Node) string {
	if arg != nil && arg.Kind == yaml.SequenceNode && len(arg.Content) > 0 {
		arg = yamlpos.Resolve(arg.Content[0])
	}
	if arg == nil || arg.Kind != yaml.ScalarNode {
		return ""
	}
	return arg.Value
}

// evaluate replaces get_input by the default of the input, get_property by the
// property of the named node template and concat by the joined text. A function of
// unknown result stays as it is, and is reported where a value is needed.
//
// Each function is evaluated once. One that needs its own value stays as it is.
func (d *document) evaluate(n *yaml.Node, depth int) *yaml.Node {
	name, arg := function(n)
	if name == "" || d.root.node == nil {
		return n
	}
	if known, seen := d.values[n]; seen {
		if known == nil {
			return n
		}
		return known
	}
	d.r.stepsAt(d, n, 1)
	if err := d.r.budget.Depth(depth); err != nil {
		d.r.stop(err)
	}
	d.values[n] = nil
	var found *yaml.Node
	switch name {
	case "get_input":
		found = d.walk(d.topology("inputs"), append([]string{firstText(arg), "default"}, rest(arg, 1)...))
	case "get_property":
		keys := rest(arg, 1)
		if node := firstText(arg); node != "SELF" && len(keys) > 0 {
			found = d.walk(d.topology("node_templates"), append([]string{node, "properties"}, keys...))
		}
	case "concat":
		found = d.concat(n, arg, depth)
	}
	if yamlpos.IsNull(found) {
		found = n
	} else {
		found = d.evaluate(yamlpos.Resolve(found), depth+1)
	}
	d.values[n] = found
	return found
}

func (d *document) topology(section string) *yaml.Node {
	return d.yaml.Get(d.yaml.Get(d.root.node, "topology_template"), section)
}

// maxText is the length of the longest text that functions can make, in bytes.
const maxText = 1 << 16

func (d *document) concat(n, arg *yaml.Node, depth int) *yaml.Node {
	if arg == nil || arg.Kind != yaml.SequenceNode {
		return nil
	}
	var b strings.Builder
	for _, part := range arg.Content {
		part = d.evaluate(yamlpos.Resolve(part), depth+1)
		if part == nil || part.Kind != yaml.ScalarNode || b.Len() > maxText {
			return nil
		}
		d.r.stepsAt(d, n, 1+len(part.Value))
		b.WriteString(part.Value)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: b.String(), Line: n.Line, Column: n.Column}
}

// rest is the arguments of a function from the n-th on.
func rest(arg *yaml.Node, n int) []string {
	if arg == nil || arg.Kind != yaml.SequenceNode || len(arg.Content) < n {
		return nil
	}
	var keys []string
	for _, c := range arg.Content[n:] {
		keys = append(keys, firstText(yamlpos.Resolve(c)))
	}
	return keys
}

// walk follows keys of mappings and indices of lists.
func (d *document) walk(n *yaml.Node, keys []string) *yaml.Node {
	d.r.steps(len(keys))
	for _, k := range keys {
		if n = yamlpos.Resolve(n); n == nil {
			return nil
		}
		if n.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(k)
			if err != nil || i < 0 || i >= len(n.Content) {
				return nil
			}
			n = n.Content[i]
			continue
		}
		n = d.yaml.Get(n, k)
	}
	return yamlpos.Resolve(n)
}
