// Package manifests reads the Kubernetes manifests of a package: the documents of a text as objects with their places. What a file
// holds is read once in a process, by the first of those who need it.
package manifests

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// Manifest is one document, or one item of a List, with its place in its file.
type Manifest struct {
	File string
	// Node has the place of the object.
	Node    *yaml.Node
	Content map[string]any
	// Written is what the file says of the object, nil where that is not kept.
	Written *Written
	// doc is the document, which Node is a part of then.
	doc *yamlpos.Document
	// withDocument, when set, returns the manifest with its document.
	withDocument func() *Manifest
}

// Decode reads all documents of a text. A rendered text has no lines and columns
// that anybody could look up, and of a duplicate key the last one counts, as with Helm.
func Decode(b *budget.Budget, file string, text []byte, rendered bool, ps *vnfm.Problems) []Manifest {
	docs, problems := yamlpos.Parse(b, file, text, yamlpos.Options{LastKeyWins: rendered, NoPlaces: rendered})
	*ps = append(*ps, problems...)
	d := decoder{file: file, rendered: rendered, ps: ps}
	d.decode(docs)
	return d.found
}

// decoder collects the manifests of a text.
type decoder struct {
	file     string
	rendered bool
	ps       *vnfm.Problems
	doc      *yamlpos.Document
	found    []Manifest
}

func (d *decoder) decode(docs []*yamlpos.Document) {
	for _, doc := range docs {
		if !doc.Sound() {
			continue // Problems that follow from these would be noise.
		}
		d.doc = doc
		if doc.Root.Kind != yaml.MappingNode {
			d.refuse(doc.Root, "a Kubernetes object must be a mapping, not %s", yamlpos.Describe(doc.Root))
			continue
		}
		v, ok := doc.Value(doc.Root, yamlpos.Values{Letters: true}, d.ps)
		if content, isMap := v.(map[string]any); ok && isMap {
			dropNulls(content)
			d.flatten(doc.Root, content)
		}
	}
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
		m := Manifest{File: d.file, Node: node, doc: d.doc, Content: content}
		if d.rendered {
			m.Node, m.doc = &yaml.Node{}, nil
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
			//findings:says write each item of the list with apiVersion and kind
			d.refuse(at, "item %d of the %s is not an object", i+1, kind)
			continue
		}
		// The kind of a list says that of its items, which client-go leaves out when it writes one.
		if single := strings.TrimSuffix(kind, "List"); object["kind"] == nil && single != "" {
			object["apiVersion"], object["kind"] = content["apiVersion"], single
		}
		d.flatten(at, object)
	}
}

// At returns the node at the place of a problem: the deepest field of the path that exists.
func (m *Manifest) At(path ...string) *yaml.Node {
	way := make([]yamlpos.Step, 0, len(path))
	for _, key := range path {
		way = append(way, yamlpos.Step{Key: key})
	}
	return m.ValueAt(way...)
}

// ValueAt is At for a way that leads through lists, too.
func (m *Manifest) ValueAt(way ...yamlpos.Step) *yaml.Node {
	if m.withDocument != nil {
		m = m.withDocument()
	}
	if m.doc == nil {
		return m.Node
	}
	return m.doc.ValueAt(m.Node, way...)
}
