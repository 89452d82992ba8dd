package vnfd

import (
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A package may hold the descriptor of something else than a VNF. What it is named for is the one finding: all others would be about
// a VNFD that it does not mean to be.

// refuse makes an error at v the only problem.
func (r *reader) refuse(v value, format string, args ...any) {
	r.problems = nil
	v.errorf(format+"; "+vnfm.ForeignDescriptorAdvice, args...)
}

// refuseYANG refuses an entry that is no TOSCA, but a descriptor of SOL006.
func (r *reader) refuseYANG(entry *document) bool {
	if entry.root.get("tosca_definitions_version").ok() {
		return false
	}
	var keys []string
	for _, e := range entry.root.entries() {
		keys = append(keys, e.name)
	}
	what := vnfm.ForeignDescriptor(keys)
	if what == "" {
		return false
	}
	r.refuse(entry.root, "the file is %s", what)
	return true
}

// refuseForeign refuses an entry that is no VNFD by its nodes, or by those of its imports.
func (r *reader) refuseForeign(entry *document, templates map[*document]*template) bool {
	var nodes []*node
	for _, doc := range r.docs {
		if t := templates[doc]; t != nil {
			nodes = append(nodes, t.nodes...)
		}
	}
	top := templates[entry]
	for _, k := range []struct {
		kind kind
		what string
	}{
		{kindNS, "a network service"},
		{kindASD, "an application (ASD, the application service descriptor of O-RAN and ONAP)"},
		{kindPNF, "a physical network function (PNF)"},
	} {
		i := slices.IndexFunc(nodes, func(n *node) bool { return n.kind == k.kind })
		if i < 0 {
			continue
		}
		r.refuse(nodes[i].key, "the file describes %s: the node %s has the type %s", k.what, nodes[i].name, nodes[i].typ)
		return true
	}
	if top == nil {
		return false
	}
	if typ := top.topo.at("substitution_mappings", "node_type"); r.types.kindOf(entry.scope, typ.str()) == kindNS {
		r.refuse(typ, "the file describes a network service: substitution_mappings has the node_type %s", typ.str())
		return true
	}
	return r.refuseOld(top)
}

// refuseOld refuses a descriptor of the TOSCA NFV profile, which was before SOL001. Tacker's form of it for containers is read.
func (r *reader) refuseOld(t *template) bool {
	if len(t.of(kindVDU)) > 0 {
		return false
	}
	for _, n := range t.nodes {
		server := n.kind == kindTackerVDU && !n.property("vnfcs").ok() &&
			(n.property("image").ok() || n.at("capabilities", "nfv_compute").ok() || n.at("artifacts").ok())
		if !server && !oldTypes[n.typ[strings.LastIndexByte(n.typ, ':')+1:]] {
			continue
		}
		r.refuse(n.key, "the file is older than SOL001: the node %s has the type %s of the TOSCA NFV profile; of that, VDUs of containers are read alone "+
			"(tosca.nodes.nfv.VDU.Tacker with vnfcs)", n.name, n.typ)
		return true
	}
	return false
}
