package yamlpos

import (
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Values says how nodes become values of JSON.
type Values struct {
	// Letters takes a plain y or n for a boolean, as the library of kubectl and Helm does; PyYAML, which Heat reads with, does not.
	Letters bool
	// AnyTag takes a scalar of an unknown tag, or a number that JSON does not have, as text instead of refusing it.
	AnyTag bool
}

// The words for true and false in YAML 1.1, which kubectl (by its library) and Heat (by PyYAML) read.
var (
	yes = []string{"yes", "Yes", "YES", "on", "On", "ON"}
	no  = []string{"no", "No", "NO", "off", "Off", "OFF"}
)

// Value returns a node with all below it as map[string]any, []any, string, bool, int64, float64 or nil. It is not ok when
// there is a new problem.
func (d *Document) Value(n *yaml.Node, v Values, problems *vnfm.Problems) (any, bool) {
	c := &converter{d: d, Values: v, problems: problems}
	return c.value(n, 0)
}

type converter struct {
	Values
	d        *Document
	problems *vnfm.Problems
}

func (c *converter) refuse(n *yaml.Node, text string) bool {
	line, column := n.Line, n.Column
	if c.d.options.NoPlaces {
		line, column = 0, 0
	}
	c.problems.Errorf(c.d.File, line, column, "%s", text)
	return false
}

func (c *converter) value(n *yaml.Node, depth int) (any, bool) {
	n = Resolve(n)
	cost := int64(1)
	if n.Kind == yaml.MappingNode {
		// A map of one value takes as much memory as several of them.
		cost = 2
	}
	err := c.d.budget.Values(cost)
	if err == nil {
		err = c.d.budget.Depth(depth)
	}
	if err != nil {
		if c.d.spent {
			return nil, false
		}
		c.d.spent = true
		//findings:says split the file, or use fewer aliases and levels of nesting
		return nil, c.refuse(n, "the file has "+err.Error())
	}
	switch n.Kind {
	case yaml.MappingNode:
		entries := c.d.Entries(n)
		out := make(map[string]any, len(entries))
		for _, e := range entries {
			v, ok := c.value(e.Value, depth+1)
			if !ok {
				return nil, false
			}
			out[e.Name()] = v
		}
		return out, true
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, ok := c.value(item, depth+1)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	default:
		return c.scalar(n)
	}
}

// scalar converts a scalar. Numbers stay integers when they are written as such. Numbers in base 60 are text:
// 52:54:00:12:34:56 is an address.
func (c *converter) scalar(n *yaml.Node) (any, bool) {
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b, true
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i, true
		}
		if c.AnyTag {
			return n.Value, true
		}
		return c.float(n)
	case "!!float":
		return c.float(n)
	case "!!str":
		const written = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
		switch {
		case n.Style&written != 0:
		case slices.Contains(yes, n.Value), c.Letters && (n.Value == "y" || n.Value == "Y"):
			return true, true
		case slices.Contains(no, n.Value), c.Letters && (n.Value == "n" || n.Value == "N"):
			return false, true
		}
		return n.Value, true
	case "!!timestamp":
		return n.Value, true
	}
	if c.AnyTag {
		return n.Value, true
	}
	//findings:says leave the tag out, or put the value in quotes
	return nil, c.refuse(n, fmt.Sprintf("the tag %s is not supported", budget.Clip(n.ShortTag())))
}

func (c *converter) float(n *yaml.Node) (any, bool) {
	var f float64
	if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f, true
	}
	if c.AnyTag {
		return n.Value, true
	}
	//findings:says write a finite number, or put the text in quotes
	return nil, c.refuse(n, "is not a number that JSON can hold")
}
