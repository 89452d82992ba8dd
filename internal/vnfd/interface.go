package vnfd

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

const (
	vnflcmName = "Vnflcm"
	vnflcmType = "tosca.interfaces.nfv.Vnflcm"
)

// notOperations are the keys of an interface that name no operation.
var notOperations = map[string]bool{
	"type": true, "inputs": true, "operations": true, "notifications": true,
	"description": true, "metadata": true, "derived_from": true, "version": true,
}

// readOperations reads the Vnflcm interface: the definitions of the VNF's type,
// then the VNF node of the entry, then the one of the flavour, the later over the
// earlier.
func (r *reader) readOperations(f *vnfm.Flavour, t, top *template) {
	f.Operations = map[string]vnfm.Implementation{}
	var sources []value
	artifacts := map[string]value{}
	addArtifacts := func(v value) {
		for _, a := range v.get("artifacts").entries() {
			artifacts[a.name] = a.value
		}
	}
	addType := func(defs []*typeDef) {
		for i := len(defs) - 1; i >= 0; i-- {
			sources = append(sources, defs[i].value)
			addArtifacts(defs[i].value)
		}
	}
	addType(r.types.chain(t.doc.scope, t.topo.at("substitution_mappings", "node_type").str()))
	nodes := []*node{top.vnf()}
	if t != top {
		nodes = append(nodes, t.vnf())
	}
	for _, n := range nodes {
		if n != nil {
			addType(n.defs)
			sources = append(sources, n.value)
			addArtifacts(n.value)
		}
	}
	for _, src := range sources {
		for _, i := range src.get("interfaces").entries() {
			bare := i.name[strings.LastIndexByte(i.name, '.')+1:]
			if bare != vnflcmName && !strings.HasSuffix(i.get("type").str(), vnflcmType) {
				continue
			}
			r.readInterface(f, i.value, artifacts)
		}
	}
	if len(f.Operations) == 0 {
		f.Operations = nil
	}
}

// readInterface reads the operations of one interface, which TOSCA 1.2 writes
// beside the type and 1.3 below operations.
func (r *reader) readInterface(f *vnfm.Flavour, i value, artifacts map[string]value) {
	if i.ok() && !i.isMap() {
		i.errorf("%s must be a mapping, not %s", i.path, describe(i))
		return
	}
	list := append(i.entries(), i.get("operations").entries()...)
	for _, op := range list {
		if notOperations[op.name] {
			continue
		}
		impl, given := operation(op, artifacts)
		// A declaration without implementation does not undo what a type gives.
		if _, has := f.Operations[op.name]; has && !given {
			continue
		}
		f.Operations[op.name] = impl
		r.places.add(op.key, "flavour", f.ID, "operation", op.name)
	}
}

// operation reads one operation: null or an empty list for the VNFM's default, a
// string, or a mapping with implementation and inputs. It tells whether there is an implementation.
func operation(op entry, artifacts map[string]value) (vnfm.Implementation, bool) {
	var impl vnfm.Implementation
	switch {
	case !op.ok():
		return impl, false
	case op.isList():
		if len(op.node.Content) > 0 {
			op.errorf("%s must name an implementation or be a mapping, not a list", op.path)
		}
		return impl, false
	case op.isText():
		implementation(&impl, op.value, artifacts)
	default:
		implementation(&impl, op.get("implementation"), artifacts)
		impl.Inputs = inputs(op.at("inputs", "additional_parameters"))
	}
	return impl, impl.Artifact != ""
}

// implementation reads a string, {primary: ...} or an artifact definition {file, type}.
func implementation(impl *vnfm.Implementation, v value, artifacts map[string]value) {
	switch {
	case !v.ok():
		return
	case v.isText():
		impl.Artifact = v.node.Value
		if a, ok := artifacts[impl.Artifact]; ok {
			if a.isText() {
				impl.File = a.str()
			} else {
				impl.File, impl.Type = a.get("file").str(), a.get("type").str()
			}
		}
	case v.isMap() && v.get("primary").ok():
		implementation(impl, v.get("primary"), artifacts)
	case v.isMap() && v.get("file").ok():
		impl.Artifact = v.get("file").str()
		impl.File, impl.Type = impl.Artifact, v.get("type").str()
	case v.isMap():
		// Dependencies and timeouts alone leave the default implementation.
	default:
		v.errorf("%s must be a string or a mapping, not %s", v.path, describe(v))
	}
}

// inputs renders additional_parameters: text as written, anything else as JSON.
func inputs(v value) map[string]string {
	if !v.isMap() {
		return nil
	}
	params := map[string]string{}
	for _, e := range v.entries() {
		params[e.name] = render(e.value)
	}
	return params
}

func render(v value) string {
	if v.isText() {
		return v.node.Value
	}
	if !v.ok() {
		return ""
	}
	text, err := json.Marshal(v.doc.plain(v.node, 0))
	if err != nil {
		return ""
	}
	return string(text)
}

// plain turns a node into Go values, scalars as text.
func (d *document) plain(n *yaml.Node, depth int) any {
	n = yamlpos.Resolve(n)
	if n == nil {
		return nil
	}
	d.r.stepsAt(d, n, 1)
	err := d.r.budget.Values(1)
	if err == nil {
		err = d.r.budget.Depth(depth)
	}
	if err != nil {
		d.r.stop(err)
	}
	switch {
	case yamlpos.IsNull(n):
		return nil
	case n.Kind == yaml.MappingNode:
		entries := d.yaml.Entries(n)
		m := make(map[string]any, len(entries))
		for _, e := range entries {
			m[e.Name()] = d.plain(e.Value, depth+1)
		}
		return m
	case n.Kind == yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			list = append(list, d.plain(c, depth+1))
		}
		return list
	}
	return n.Value
}
