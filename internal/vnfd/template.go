package vnfd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// node is a node template.
type node struct {
	entry
	typ  string
	kind kind
	// defs are the definitions of its type, the most derived first.
	defs []*typeDef
	tmpl *template
	// reqs is filled when the requirements are first asked for.
	reqs  []requirement
	asked bool
}

// property returns a property of the node, or the default of its type.
func (n *node) property(name string) value {
	if v := n.at("properties", name); v.ok() {
		return v
	}
	v := fallback(n.defs, name)
	if v.doc == nil {
		return n.at("properties", name)
	}
	v.path = n.path + ".properties." + name
	return v
}

// template is the topology template of one document.
type template struct {
	doc   *document
	topo  value
	nodes []*node
	// byName finds nodes.
	byName map[string]*node
	// groups maps a group to its members.
	groups map[string][]string
}

// template reads the node templates and groups of a document; nil when the
// document has no topology.
func (r *reader) template(d *document) *template {
	topo := d.root.get("topology_template")
	if !topo.ok() {
		return nil
	}
	if !topo.isMap() {
		topo.errorf("topology_template must be a mapping, not %s", describe(topo))
		return nil
	}
	t := &template{doc: d, topo: topo, byName: map[string]*node{}, groups: map[string][]string{}}
	topo.wantMaps("substitution_mappings", "inputs")
	vnfType := topo.at("substitution_mappings", "node_type").str()
	for _, e := range topo.get("node_templates").entries() {
		n := &node{entry: e, tmpl: t}
		if !e.isMap() {
			e.key.errorf("%s must be a mapping, not %s", e.path, describe(e.value))
			continue
		}
		e.wantMaps("properties", "capabilities")
		typ := e.get("type")
		if n.typ = typ.str(); n.typ == "" {
			if !typ.ok() {
				//findings:says add type, such as tosca.nodes.nfv.Vdu.Compute at a node or tosca.policies.nfv.ScalingAspects at a policy
				e.key.errorf("%s has no type", e.path)
			}
			continue
		}
		n.kind = r.types.kindOf(d.scope, n.typ)
		n.defs = r.types.chain(d.scope, n.typ)
		if n.kind == kindUnknown {
			r.unknownNode(n, typ, n.typ == vnfType || looksLikeVNF(e.value))
		}
		t.nodes = append(t.nodes, n)
		if t.byName[n.name] == nil {
			t.byName[n.name] = n
		}
	}
	for _, g := range d.section("groups") {
		t.groups[g.name] = g.get("members").texts()
	}
	return t
}

// unknownNode reports a node whose type is defined nowhere, unless it is the VNF node, whose type some packages leave out.
func (r *reader) unknownNode(n *node, typ value, isVNF bool) {
	missing, isMissing := r.types.missing(n.tmpl.doc.scope, n.typ)
	switch {
	case isMissing && r.readsImports():
		typ.errorf("%s", missing.text(n.typ, "node "+n.name))
		n.kind = missing.kind()
	case isMissing && missing.nearest != "":
		typ.warnf("%s", missing.text(n.typ, "node "+n.name))
	case isVNF:
	case r.readsImports():
		//findings:says define the type in the package and import that file, or use a type of SOL001
		typ.errorf("the type %s of the node %s is neither defined in the package nor one of ETSI's", n.typ, n.name)
	default:
		typ.warnf("the type %s of the node %s is not defined in this file; the node is left out", n.typ, n.name)
	}
	if isVNF {
		n.kind = kindVNF
	}
}

// looksLikeVNF recognises the VNF node although the definition of its type is
// missing: by properties that no other node of a VNFD has.
func looksLikeVNF(v value) bool {
	return v.at("properties", "descriptor_id").ok() || v.at("properties", "flavour_id").ok()
}

// of returns the nodes of some kinds.
func (t *template) of(kinds ...kind) []*node {
	var list []*node
	for _, n := range t.nodes {
		if slices.Contains(kinds, n.kind) {
			list = append(list, n)
		}
	}
	return list
}

// vnf returns the VNF node, or nil.
func (t *template) vnf() *node {
	if t == nil {
		return nil
	}
	if list := t.of(kindVNF); len(list) > 0 {
		return list[0]
	}
	return nil
}

// expand replaces groups by their members.
func (t *template) expand(v value) []target {
	var list []target
	seen := map[string]bool{}
	for _, item := range v.items() {
		name, ok := item.text()
		if !ok {
			continue
		}
		members, isGroup := t.groups[name]
		if !isGroup {
			members = []string{name}
		}
		t.doc.r.steps(len(members))
		for _, m := range members {
			if !seen[m] {
				seen[m] = true
				list = append(list, target{m, item})
			}
		}
	}
	return list
}

// target is one node that a policy is for.
type target struct {
	name string
	at   value
}

// deployable tells whether the template describes what is deployed, and not
// just which flavours there are.
func (t *template) deployable() bool {
	return t.topo.get("substitution_mappings").isMap() || slices.ContainsFunc(t.nodes, func(n *node) bool {
		return n.kind != kindVNF && n.kind != kindOther && n.kind != kindUnknown
	})
}

// descriptor puts the documents together.
func (r *reader) descriptor(entry *document) *vnfm.Descriptor {
	r.types.checkCircles()
	d := &vnfm.Descriptor{}
	top := r.template(entry)
	imported := map[*document]*template{entry: top}
	for _, doc := range r.docs {
		if doc != entry {
			imported[doc] = r.template(doc)
		}
	}
	if r.refuseForeign(entry, imported) {
		return d
	}
	templates := []*template{}
	add := func(doc *document, t *template) {
		switch {
		case t == nil:
		case t.deployable() && (doc == entry || t.vnf() != nil || t.topo.get("substitution_mappings").isMap()):
			templates = append(templates, t)
		case t.deployable():
			//findings:says add substitution_mappings with the flavour_id, or a node of type tosca.nodes.nfv.VNF
			t.topo.warnf("the topology_template of %s is ignored: it neither has a VNF node nor substitution_mappings", doc.file)
		}
	}
	for _, doc := range r.docs {
		add(doc, imported[doc])
	}
	if len(templates) == 0 {
		for _, doc := range r.beside(entry) {
			if t := r.template(doc); t != nil {
				t.topo.warnf("no import leads to the deployment flavour in %s; it was found beside %s", doc.file, entry.file)
				add(doc, t)
			}
		}
	}
	if len(templates) == 0 && top.vnf() != nil && r.readsImports() {
		if id := top.vnf().property("flavour_id"); id.isText() {
			templates = append(templates, top)
		}
	}

	vnf := top.vnf()
	for _, t := range templates {
		if vnf == nil {
			vnf = t.vnf()
		}
	}
	r.problems.During(ruleVNF, func() { r.identity(d, entry, vnf, templates) })
	for _, t := range templates {
		r.problems.During(ruleFlavour, func() { r.flavour(d, t, top) })
	}
	if len(templates) == 0 && (r.readsImports() || vnf == nil) {
		r.problems.During(ruleFlavour, func() {
			//findings:says import the file of the flavour, or add substitution_mappings with a flavour_id
			entry.root.errorf("the VNFD has no deployment flavour: neither the entry definitions nor their imports have a topology_template with substitution_mappings or VDUs")
		})
	} else if len(templates) == 0 {
		//findings:says parse_vnfd reads one file; register the package to have its flavours read
		entry.root.warnf("the deployment flavours are in other files, which are not read here")
	}
	r.problems.During(ruleFlavour, func() { r.defaultFlavour(d, vnf) })
	r.problems.During(ruleChange, func() {
		for _, doc := range r.docs {
			d.PackageChanges = append(d.PackageChanges, r.packageChanges(doc)...)
		}
	})
	return d
}

// identity reads the properties that identify the VNFD: from the VNF node, from
// the defaults of its type, or from those of the type that a flavour substitutes.
func (r *reader) identity(d *vnfm.Descriptor, entry *document, vnf *node, templates []*template) {
	if vnf == nil {
		switch {
		case len(templates) > 0 && templates[0].legacy():
			r.legacyIdentity(d, entry)
		case len(templates) > 0:
			//findings:says add one with descriptor_id, provider, product_name, software_version, descriptor_version and flavour_id
			entry.root.errorf("the VNFD has no VNF node (tosca.nodes.nfv.VNF or a type derived from it)")
		default:
		}
		return
	}
	find := identitySource{r: r, vnf: vnf, nodes: vnfNodes(vnf, templates), templates: templates}.property
	id := find("descriptor_id")
	d.ID = id.str()
	r.places.add(id, "id")
	// The type that has the rest may be in a document that is not read here.
	partial := !r.readsImports() && len(vnf.defs) == 0 && r.types.kindOf(vnf.doc.scope, vnf.typ) == kindUnknown
	switch {
	case d.ID != "" || id.unreadable():
	case partial:
		//findings:says add the property descriptor_id, a UUID, unless the type of the node gives it in another file
		vnf.key.warnf("the VNF node %s has no descriptor_id here", vnf.name)
	default:
		//findings:says add the property descriptor_id, a UUID
		vnf.key.errorf("the VNF node %s has no descriptor_id", vnf.name)
	}
	for _, p := range []struct {
		name string
		to   *string
	}{
		{"provider", &d.Provider},
		{"product_name", &d.ProductName},
		{"software_version", &d.SoftwareVersion},
		{"descriptor_version", &d.Version},
	} {
		if *p.to = find(p.name).str(); *p.to == "" && !partial {
			//findings:says add the property at the node, or its default at the type of the node
			vnf.key.warnf("the VNF node %s has no %s", vnf.name, p.name)
		}
		for _, n := range vnfNodes(vnf, templates) {
			n.checkValid(p.name)
		}
	}
	d.VNFMInfo = find("vnfm_info").texts()
}

// identitySource is where the properties that identify the VNFD are looked for.
type identitySource struct {
	r         *reader
	vnf       *node
	nodes     []*node
	templates []*template
}

// property returns the value at a VNF node, the one of the entry document first, or the default of the type of that node,
// or that of a type that a flavour substitutes.
func (s identitySource) property(name string) value {
	for _, n := range s.nodes {
		v := n.property(name)
		if !v.ok() {
			continue
		}
		if fn, _ := function(v.node); fn == "" {
			return v
		}
		if w := fallback(n.defs, name); w.ok() {
			return w
		}
	}
	for _, t := range s.templates {
		typ := t.topo.at("substitution_mappings", "node_type").str()
		if v := fallback(s.r.types.chain(t.doc.scope, typ), name); v.ok() {
			return v
		}
	}
	return s.vnf.property(name)
}

// checkValid warns of a value that the constraints of the node's type do not admit. Tacker refuses it; nothing here depends on it.
func (n *node) checkValid(property string) {
	v := n.at("properties", property)
	if !v.isText() {
		return
	}
	var valid []string
	v.doc.r.aside(func() {
		for _, def := range n.defs {
			for _, c := range def.at("properties", property, "constraints").entries() {
				if c.name == "valid_values" && valid == nil {
					valid = c.texts()
				}
			}
		}
	})
	if len(valid) > 0 && !slices.Contains(valid, v.node.Value) {
		//findings:says write one of the listed values, or add this one to valid_values
		v.warnf("the %s %q of the node %s is not among the valid_values of its type: %s", property, v.node.Value, n.name, quoted(valid))
	}
}

// vnfNodes are the VNF nodes of the entry document and of the flavours.
func vnfNodes(first *node, templates []*template) []*node {
	nodes := []*node{first}
	for _, t := range templates {
		if n := t.vnf(); n != nil && n != first {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// flavour reads one deployment flavour; top is the template of the entry document.
func (r *reader) flavour(d *vnfm.Descriptor, t, top *template) {
	f := &indexed{Flavour: &vnfm.Flavour{ID: r.flavourID(t)}}
	if f.ID == "" {
		return
	}
	if d.Flavour(f.ID) != nil {
		//findings:says give each flavour a flavour_id of its own
		t.topo.errorf("the deployment flavour %q is defined twice", f.ID)
		return
	}
	if desc := r.mapping(t, "flavour_description"); desc.isText() {
		f.Description = desc.str()
	}
	key := []string{"flavour", f.ID}
	r.places.add(t.topo, key...)
	for _, step := range []struct {
		rule string
		read func(f *indexed, t *template)
	}{
		{ruleVDU, r.readVDUs},
		{ruleNetwork, r.readNetwork},
		{ruleStorage, r.readStorages},
		{ruleContainer, r.readWorkloads},
		{ruleMCIOP, r.readMCIOPs},
		{ruleFlavour, r.readPolicies},
	} {
		r.problems.During(step.rule, func() { step.read(f, t) })
	}
	r.problems.During(ruleLCM, func() { r.readOperations(f.Flavour, t, top) })
	r.problems.During(ruleArtifact, func() { r.checkArtifacts(t) })
	d.Flavours = append(d.Flavours, *f.Flavour)
}

// mapping finds a property of the flavour: where the substitution is declared,
// at the VNF node of the template, or in the type that is substituted.
func (r *reader) mapping(t *template, name string) value {
	v := t.topo.at("substitution_mappings", "properties", name)
	// TOSCA 1.3 maps a property to a list with the value or the input's name.
	if items := v.items(); v.isList() && len(items) == 1 {
		v = items[0]
	}
	if v.isText() {
		return v
	}
	if n := t.vnf(); n != nil {
		if w := n.property(name); w.isText() {
			return w
		}
	}
	typ := t.topo.at("substitution_mappings", "node_type").str()
	if w := fallback(r.types.chain(t.doc.scope, typ), name); w.isText() {
		return w
	}
	return v
}

func (r *reader) flavourID(t *template) string {
	if t.legacy() {
		return legacyFlavourID
	}
	v := r.mapping(t, "flavour_id")
	if v.isText() && v.node.Value != "" {
		return v.node.Value
	}
	if n := t.vnf(); n != nil && !v.ok() {
		v = n.at("properties", "flavour_id")
	}
	at := t.topo
	if v.ok() {
		at = v
	} else if s := t.topo.get("substitution_mappings"); s.ok() {
		at = s
	} else if n := t.vnf(); n != nil {
		at = n.key
	}
	if name, arg := function(v.node); name == "get_input" {
		at.errorf("the flavour_id of the deployment flavour of %s comes from the input %q, which has no default; write it in substitution_mappings.properties or at the VNF node",
			t.doc.file, firstText(arg))
		return ""
	}
	at.errorf("the deployment flavour of %s has no flavour_id; write it in substitution_mappings.properties or at the VNF node", t.doc.file)
	return ""
}

// defaultFlavour chooses the flavour that the VNF node selects, or the only one.
func (r *reader) defaultFlavour(d *vnfm.Descriptor, vnf *node) {
	if len(d.Flavours) == 1 {
		d.DefaultFlavourID = d.Flavours[0].ID
	}
	if vnf == nil || len(d.Flavours) == 0 {
		return
	}
	v := vnf.at("properties", "flavour_id")
	if !v.isText() {
		return
	}
	if d.Flavour(v.node.Value) == nil {
		v.warnf("the VNF node selects the deployment flavour %q, which does not exist; known are %s", v.node.Value, flavourIDs(d))
		return
	}
	if len(d.Flavours) > 1 && vnf.tmpl.deployable() {
		// The VNF node of a flavour names its own flavour, which prefers none.
		return
	}
	d.DefaultFlavourID = v.node.Value
}

func flavourIDs(d *vnfm.Descriptor) string {
	ids := make([]string, 0, len(d.Flavours))
	for _, f := range d.Flavours {
		ids = append(ids, f.ID)
	}
	return quoted(ids)
}

// mostNames is how many names a message lists.
const mostNames = 30

// quoted renders names for a message, and says so when there are none.
func quoted(names []string) string {
	return quotedOf(names[:min(len(names), mostNames)], len(names))
}

// quotedOf renders the first of all names.
func quotedOf(names []string, all int) string {
	if all == 0 {
		return "none"
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strconv.Quote(n)
	}
	text := strings.Join(list, ", ")
	if more := all - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
