package hot

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// mostValues bounds one template. All of it is copied for each request, parts of it for each
// VNFC, and what aliases multiply is as large as it looks.
const mostValues = 100_000

// pathMark separates the parts of a name that is made of several.
const pathMark = "\x00"

// template is one file of a BaseHOT, or of a translated VNFD.
type template struct {
	file string
	text string
	body map[string]any
	// doc is the file with the places of what stands in it; nil for the top-level template of a translated VNFD, which has
	// the places of its resources instead.
	doc       *yamlpos.Document
	resources map[string]vnfm.Place
}

// parse reads a template the way that Heat does, which reads YAML 1.1 by PyYAML: a
// heat_template_version without quotes stays text, and yes, no, on and off without
// quotes are true and false. The one thing that is not done are numbers in base 60: who
// writes 52:54:00:12:34:56 means the address.
func parse(b *budget.Budget, file string, data []byte, ps *vnfm.Problems) *template {
	docs, problems := yamlpos.Parse(b, file, data, yamlpos.Options{Null: true})
	*ps = append(*ps, problems...)
	switch {
	case len(docs) > 1:
		ps.Errorf(file, docs[1].Line, docs[1].Column, "the file has more than one YAML document; a template is a single document")
		return nil
	case problems.HasErrors():
		return nil
	case len(docs) == 0:
		//findings:says write heat_template_version and resources into it
		ps.Errorf(file, 0, 0, "the template is empty")
		return nil
	}
	root := docs[0].Root
	if root.Kind != yaml.MappingNode {
		ps.Errorf(file, root.Line, root.Column, "a template must be a mapping, not %s", yamlpos.Describe(root))
		return nil
	}
	if docs[0].Size(root) > mostValues {
		//findings:says use fewer aliases and merge keys, or move resources to nested templates
		ps.Errorf(file, root.Line, root.Column, "the template has %v", &budget.Error{Noun: "values, counted after aliases and merge keys are followed", Max: mostValues})
		return nil
	}
	v, ok := docs[0].Value(root, yamlpos.Values{AnyTag: true}, ps)
	if !ok {
		return nil
	}
	return &template{file: file, text: string(data), body: mapOf(v), doc: docs[0]}
}

// step is a key of a mapping, item an index of a list.
func step(key string) yamlpos.Step { return yamlpos.Step{Key: key} }

func item(index int) yamlpos.Step { return yamlpos.Step{Index: index} }

// place is where the value at the end of a way of keys is written.
func (t *template) place(keys ...string) vnfm.Place {
	way := make([]yamlpos.Step, 0, len(keys))
	for _, key := range keys {
		way = append(way, step(key))
	}
	return t.at(way)
}

// at is where the value at the end of a way is written, or else the deepest one on it.
func (t *template) at(way []yamlpos.Step) vnfm.Place {
	if t.doc == nil {
		if len(way) < 2 || way[0].Key != "resources" {
			return vnfm.Place{}
		}
		return t.resources[way[1].Key]
	}
	n := t.doc.Place(t.doc.Root, way...)
	return vnfm.Place{File: t.file, Line: n.Line, Column: n.Column}
}

func errorAt(ps *vnfm.Problems, at vnfm.Place, format string, args ...any) {
	ps.Errorf(at.File, at.Line, at.Column, "%s", budget.Clip(fmt.Sprintf(format, args...)))
}

// section is one of the mappings of a template: resources, parameters, outputs.
func (t *template) section(name string) map[string]any { return mapOf(t.body[name]) }

// mapOf is a mapping, or nil for anything else; lookups in nil find nothing.
func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
