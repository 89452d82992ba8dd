package render

import (
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// manifest is one document, or one item of a List, with its place in its file.
type manifest struct {
	file string
	// node has the place, and everything below it when doc is set.
	node    *yaml.Node
	doc     *yamlpos.Document
	content map[string]any
	// shared is set for an object that several instances use: its first owner stays its
	// owner.
	shared bool
	// withDocument, when set, returns the manifest with its document.
	withDocument func() *manifest
}

// readManifests reads all documents of a file of the package. JSON is read as YAML.
func readManifests(b *budget.Budget, fsys fs.FS, file string, ps *vnfm.Problems) []manifest {
	text, err := b.ReadFile(fsys, file)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{File: file, Summary: "cannot be read", Detail: err.Error()})
		return nil
	}
	return cache.manifests(b, file, text, ps)
}

// decodeManifests reads all documents of a text. A rendered text has no lines and columns
// that anybody could look up, and of a duplicate key the last one counts, as with Helm.
func decodeManifests(b *budget.Budget, file string, text []byte, rendered bool, ps *vnfm.Problems) []manifest {
	docs, problems := yamlpos.Parse(b, file, text, yamlpos.Options{LastKeyWins: rendered, NoPlaces: rendered})
	*ps = append(*ps, problems...)
	d := decoder{file: file, rendered: rendered, ps: ps}
	for _, doc := range docs {
		if !doc.Sound() {
			continue // What follows from its problems is no finding of its own.
		}
		d.doc = doc
		if doc.Root.Kind != yaml.MappingNode {
			d.refuse(doc.Root, "a Kubernetes object must be a mapping, not %s", yamlpos.Describe(doc.Root))
			continue
		}
		v, ok := doc.Value(doc.Root, yamlpos.Values{OmitNull: true}, ps)
		if content, isMap := v.(map[string]any); ok && isMap {
			d.flatten(doc.Root, content)
		}
	}
	return d.found
}

// decoder collects the manifests of a text.
type decoder struct {
	file     string
	rendered bool
	ps       *vnfm.Problems
	doc      *yamlpos.Document
	found    []manifest
}

func (d *decoder) refuse(n *yaml.Node, format string, args ...any) {
	line, column := n.Line, n.Column
	if d.rendered {
		line, column = 0, 0
	}
	d.ps.Errorf(d.file, line, column, format, args...)
}

// flatten adds the object, or the items of a List.
func (d *decoder) flatten(node *yaml.Node, content map[string]any) {
	kind, _ := content["kind"].(string)
	items, isList := content["items"].([]any)
	if !strings.HasSuffix(kind, "List") || (!isList && kind != "List") {
		m := manifest{file: d.file, node: node, doc: d.doc, content: content}
		if d.rendered {
			m.node, m.doc = &yaml.Node{}, nil
		}
		d.found = append(d.found, m)
		return
	}
	list := d.doc.Get(node, "items")
	for i, item := range items {
		at := node
		if list != nil && i < len(list.Content) {
			at = yamlpos.Resolve(list.Content[i])
		}
		object, ok := item.(map[string]any)
		if !ok {
			d.refuse(at, "item %d of the %s is not an object", i+1, kind)
			continue
		}
		d.flatten(at, object)
	}
}

// at returns the node at the place of a problem: the deepest field of the path that exists.
func (m *manifest) at(path ...string) *yaml.Node {
	if m.withDocument != nil {
		m = m.withDocument()
	}
	if m.doc == nil {
		return m.node
	}
	return m.doc.At(m.node, path...)
}

// typeName names the type of a JSON value, for problems.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
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
