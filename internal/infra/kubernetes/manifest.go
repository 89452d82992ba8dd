package kubernetes

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Bounds of one manifest file. Anchors can make a small file large: what counts
// is the number of values after they were followed.
const (
	maxManifestBytes  = 32 << 20
	maxManifestValues = 2_000_000
	maxManifestDepth  = 200
)

// manifest is one document, or one item of a List, with its place in its file.
type manifest struct {
	file    string
	node    *yaml.Node
	content map[string]any
	// shared is set for an object that several instances use: whose it is already
	// stays its owner.
	shared bool
	// whole, when set, finds the node with all that is below it; node tells its place.
	whole func() *yaml.Node
}

// readManifests reads all documents of a file of the package. JSON is read as
// the YAML that it is.
func readManifests(fsys fs.FS, file string, ps *vnfm.Problems) []manifest {
	text, err := readBounded(fsys, file)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{File: file, Summary: "cannot be read", Detail: err.Error()})
		return nil
	}
	return decoded.manifests(file, text, ps)
}

// decodeManifests reads all documents of a text. One that was rendered has no lines
// and columns that anybody could look up, and a key that it has twice is the last
// one, as it is to Helm.
func decodeManifests(file string, text []byte, rendered bool, ps *vnfm.Problems) []manifest {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	c := &converter{file: file, ps: ps, budget: maxManifestValues, rendered: rendered}
	var out []manifest
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			line, message := vnfm.YAMLError(err)
			if rendered {
				line = 0
			}
			ps.Errorf(file, line, 0, "is not valid YAML: %s", message)
			return out
		}
		if rendered {
			forgetPlaces(&document)
		}
		if len(document.Content) == 0 {
			continue
		}
		root := document.Content[0]
		if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
			continue
		}
		if root.Kind != yaml.MappingNode {
			ps.Errorf(file, root.Line, root.Column, "a Kubernetes object must be a mapping, not %s", nodeKind(root))
			continue
		}
		content, ok := c.mapping(root, 0)
		if !ok {
			continue
		}
		out = c.flatten(out, root, content)
	}
}

// readBounded reads a file of the package that is not larger than a manifest may be.
func readBounded(fsys fs.FS, file string) ([]byte, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifestBytes+1))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && len(text) > maxManifestBytes {
		err = errors.New("a manifest file may have 32 MiB at most")
	}
	return text, err
}

// flatten appends the object, or the items of a List.
func (c *converter) flatten(out []manifest, node *yaml.Node, content map[string]any) []manifest {
	kind, _ := content["kind"].(string)
	items, isList := content["items"].([]any)
	if !strings.HasSuffix(kind, "List") || (!isList && kind != "List") {
		return append(out, manifest{file: c.file, node: node, content: content})
	}
	nodes := resolve(child(node, "items"))
	for i, item := range items {
		at := node
		if nodes != nil && i < len(nodes.Content) {
			at = resolve(nodes.Content[i])
		}
		object, ok := item.(map[string]any)
		if !ok {
			c.ps.Errorf(c.file, at.Line, at.Column, "item %d of the %s is not an object", i+1, kind)
			continue
		}
		out = c.flatten(out, at, object)
	}
	return out
}

// converter makes JSON values of YAML nodes: map[string]any, []any, string,
// bool, int64, float64 and nil.
type converter struct {
	file     string
	ps       *vnfm.Problems
	budget   int
	rendered bool
}

// forgetPlaces takes line and column from a node and all below it.
func forgetPlaces(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, child := range n.Content {
		forgetPlaces(child)
	}
}

func (c *converter) refuse(n *yaml.Node, format string, args ...any) bool {
	c.ps.Errorf(c.file, n.Line, n.Column, format, args...)
	return false
}

// spend counts a value against the bounds of the file.
func (c *converter) spend(n *yaml.Node, depth int) bool {
	c.budget--
	switch {
	case c.budget == 0:
		return c.refuse(n, "the file has more than %d values after its anchors are followed", maxManifestValues)
	case c.budget < 0:
		return false
	case depth > maxManifestDepth:
		return c.refuse(n, "values are nested more than %d deep", maxManifestDepth)
	}
	return true
}

func (c *converter) value(n *yaml.Node, depth int) (any, bool) {
	if !c.spend(n, depth) {
		return nil, false
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		return c.sequence(n, depth)
	case yaml.ScalarNode:
		return c.scalar(n)
	default:
		return nil, c.refuse(n, "is not a YAML value")
	}
}

func (c *converter) sequence(n *yaml.Node, depth int) (any, bool) {
	out := make([]any, 0, len(n.Content))
	for _, item := range n.Content {
		v, ok := c.value(item, depth+1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// mapping converts a mapping. Null values are left out, which is what they mean
// to the API server; merge keys ("<<") give what the mapping itself has not.
func (c *converter) mapping(n *yaml.Node, depth int) (map[string]any, bool) {
	out := make(map[string]any, len(n.Content)/2)
	seen := make(map[string]int, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		keyNode, valueNode := resolve(n.Content[i]), n.Content[i+1]
		if keyNode.ShortTag() == "!!merge" {
			merges = append(merges, valueNode)
			continue
		}
		if keyNode.Kind != yaml.ScalarNode || keyNode.ShortTag() == "!!null" {
			return nil, c.refuse(keyNode, "a key must be a text, not %s", nodeKind(keyNode))
		}
		key := keyNode.Value
		if line, twice := seen[key]; twice && !c.rendered {
			return nil, c.refuse(keyNode, "key %q is given twice, first in line %d", key, line)
		}
		seen[key] = keyNode.Line
		v, ok := c.value(valueNode, depth+1)
		if !ok {
			return nil, false
		}
		if v != nil {
			out[key] = v
		}
	}
	for _, m := range merges {
		if !c.merge(out, seen, m, depth) {
			return nil, false
		}
	}
	return out, true
}

// merge adds the entries of a merge key's value that the mapping does not have.
func (c *converter) merge(out map[string]any, seen map[string]int, n *yaml.Node, depth int) bool {
	source := resolve(n)
	switch source.Kind {
	case yaml.MappingNode:
		if !c.spend(n, depth) {
			return false
		}
		entries, ok := c.mapping(source, depth+1)
		if !ok {
			return false
		}
		for k, v := range entries {
			if _, own := seen[k]; !own {
				out[k] = v
				seen[k] = source.Line
			}
		}
		return true
	case yaml.SequenceNode:
		for _, item := range source.Content {
			if resolve(item).Kind != yaml.MappingNode {
				return c.refuse(item, "a merge key takes mappings only")
			}
			if !c.merge(out, seen, item, depth+1) {
				return false
			}
		}
		return true
	default:
		return c.refuse(n, "a merge key takes mappings only")
	}
}

// scalar converts a scalar. Numbers stay integers when they are written as such.
// The words yes, no, on and off are booleans as they are to kubectl, which reads
// YAML 1.1.
func (c *converter) scalar(n *yaml.Node) (any, bool) {
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), true
	case "!!int":
		var i int64
		if err := n.Decode(&i); err == nil {
			return i, true
		}
		return c.float(n)
	case "!!float":
		return c.float(n)
	case "!!str":
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 {
			switch n.Value {
			case "yes", "Yes", "YES", "on", "On", "ON":
				return true, true
			case "no", "No", "NO", "off", "Off", "OFF":
				return false, true
			}
		}
		return n.Value, true
	case "!!timestamp":
		return n.Value, true
	default:
		return nil, c.refuse(n, "the tag %s is not supported", n.ShortTag())
	}
}

func (c *converter) float(n *yaml.Node) (any, bool) {
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, c.refuse(n, "is not a number that JSON can hold")
	}
	return f, true
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// child returns the value node of a key of a mapping, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	n = resolve(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// at returns the node of a field for the place of a problem: the deepest one of
// the path that exists.
func (m *manifest) at(path ...string) *yaml.Node {
	n := m.node
	if m.whole != nil {
		n = m.whole()
	}
	for _, p := range path {
		next := child(n, p)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// nodeKind names what a node is, for problems.
func nodeKind(n *yaml.Node) string {
	switch resolve(n).Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch resolve(n).ShortTag() {
		case "!!null":
			return "null"
		case "!!int", "!!float":
			return "a number"
		case "!!bool":
			return "a boolean"
		default:
			return "a text"
		}
	default:
		return "nothing"
	}
}

// typeName names the type of a JSON value, for problems.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case int64, float64, int, int32, uint64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	default:
		return "a value of another type"
	}
}
