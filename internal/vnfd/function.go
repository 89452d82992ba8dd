package vnfd

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// function returns the name and the argument of a TOSCA function, or nothing
// when n is none (TOSCA Simple Profile 1.3, clause 4).
func function(n *yaml.Node) (string, *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return "", nil
	}
	switch name := n.Content[0].Value; name {
	case "get_input", "get_property", "get_attribute", "get_artifact", "get_operation_output", "get_nodes_of_type", "concat", "join", "token":
		return name, unalias(n.Content[1])
	}
	return "", nil
}

// firstText is the argument of a function, or the first of its arguments.
func firstText(arg *yaml.Node) string {
	if arg != nil && arg.Kind == yaml.SequenceNode && len(arg.Content) > 0 {
		arg = unalias(arg.Content[0])
	}
	if arg == nil || arg.Kind != yaml.ScalarNode {
		return ""
	}
	return arg.Value
}

// evaluate replaces get_input by the default of the input, get_property by the
// property of the named node template and concat by the joined text. What cannot
// be known stays as it is, and is reported where a value is needed.
func (d *document) evaluate(n *yaml.Node, depth int) *yaml.Node {
	name, arg := function(n)
	if name == "" || depth > maxDepth || d.root.node == nil {
		return n
	}
	var found *yaml.Node
	switch name {
	case "get_input":
		found = walk(d.topology("inputs"), append([]string{firstText(arg), "default"}, rest(arg, 1)...))
	case "get_property":
		keys := rest(arg, 1)
		if node := firstText(arg); node != "SELF" && len(keys) > 0 {
			found = walk(d.topology("node_templates"), append([]string{node, "properties"}, keys...))
		}
	case "concat":
		found = d.concat(n, arg, depth)
	}
	if isNull(found) {
		return n
	}
	return d.evaluate(unalias(found), depth+1)
}

func (d *document) topology(section string) *yaml.Node {
	return lookup(lookup(d.root.node, "topology_template", 0), section, 0)
}

func (d *document) concat(n, arg *yaml.Node, depth int) *yaml.Node {
	if arg == nil || arg.Kind != yaml.SequenceNode {
		return nil
	}
	var b strings.Builder
	for _, part := range arg.Content {
		part = d.evaluate(unalias(part), depth+1)
		if part == nil || part.Kind != yaml.ScalarNode || b.Len() > 1<<16 {
			return nil
		}
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
		keys = append(keys, firstText(unalias(c)))
	}
	return keys
}

// walk follows keys of maps and indices of lists.
func walk(n *yaml.Node, keys []string) *yaml.Node {
	for _, k := range keys {
		if n = unalias(n); n == nil {
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
		n = lookup(n, k, 0)
	}
	return unalias(n)
}
