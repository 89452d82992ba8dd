package vnfd

import (
	"maps"
	"slices"
	"strings"
)

// kind is what a node, policy, group or artifact type finally derives from.
type kind int

const (
	// kindUnknown is a type whose definition is missing.
	kindUnknown kind = iota
	// kindOther is a type that is known and of no use here.
	kindOther
	kindVNF
	kindVDU
	kindTackerVDU
	kindContainer
	kindMciop
	kindStorage
	kindVduCp
	kindVirtualCp
	kindExtCp
	kindVirtualLink
	kindScalingAspects
	kindScalingDeltas
	kindInitialDelta
	kindLevels
	kindVDULevels
	kindAffinity
	kindAntiAffinity
	kindSecurityRule
	kindPackageChange
	kindTackerScaling
	kindPlacementGroup
	kindSWImage
	kindHelmChart
	// kindNS, kindPNF and kindASD are types of other descriptors than those of VNFs.
	kindNS
	kindPNF
	kindASD
)

// wellKnown are the types that mean something here: ETSI's of all versions of
// SOL001 from v2.5.1 on, and those of the form that OpenStack Tacker had before it.
var wellKnown = map[string]kind{
	"tosca.nodes.nfv.VNF":                           kindVNF,
	"tosca.nodes.nfv.Vdu.Compute":                   kindVDU,
	"tosca.nodes.nfv.Vdu.OsContainerDeployableUnit": kindVDU,
	"tosca.nodes.nfv.Vdu.OsContainer":               kindContainer,
	"tosca.nodes.nfv.Mciop":                         kindMciop,
	"tosca.nodes.nfv.Vdu.VirtualStorage":            kindStorage,
	"tosca.nodes.nfv.Vdu.VirtualBlockStorage":       kindStorage,
	"tosca.nodes.nfv.Vdu.VirtualObjectStorage":      kindStorage,
	"tosca.nodes.nfv.Vdu.VirtualFileStorage":        kindStorage,
	"tosca.nodes.nfv.VduCp":                         kindVduCp,
	"tosca.nodes.nfv.VduSubCp":                      kindVduCp,
	"tosca.nodes.nfv.VipCp":                         kindVduCp,
	"tosca.nodes.nfv.VirtualCp":                     kindVirtualCp,
	"tosca.nodes.nfv.VnfExtCp":                      kindExtCp,
	"tosca.nodes.nfv.VnfVirtualLink":                kindVirtualLink,
	"tosca.nodes.nfv.VDU.Tacker":                    kindTackerVDU,
	"tosca.nodes.nfv.CP.Tacker":                     kindVduCp,
	"tosca.nodes.nfv.VL":                            kindVirtualLink,

	"tosca.policies.nfv.ScalingAspects":         kindScalingAspects,
	"tosca.policies.nfv.VduScalingAspectDeltas": kindScalingDeltas,
	"tosca.policies.nfv.VduInitialDelta":        kindInitialDelta,
	"tosca.policies.nfv.InstantiationLevels":    kindLevels,
	"tosca.policies.nfv.VduInstantiationLevels": kindVDULevels,
	"tosca.policies.nfv.AffinityRule":           kindAffinity,
	"tosca.policies.nfv.AntiAffinityRule":       kindAntiAffinity,
	"tosca.policies.nfv.SecurityGroupRule":      kindSecurityRule,
	"tosca.policies.nfv.VnfPackageChange":       kindPackageChange,
	"tosca.policies.tacker.Scaling":             kindTackerScaling,

	"tosca.groups.nfv.PlacementGroup": kindPlacementGroup,
	"tosca.artifacts.nfv.SwImage":     kindSWImage,
	"tosca.artifacts.nfv.HelmChart":   kindHelmChart,
}

// typeSections are the sections of a document that define types.
var typeSections = []string{"node_types", "policy_types", "group_types", "artifact_types"}

// typeTable holds the type definitions of all documents, by the name under which
// the entry document sees them (namespace prefixes included).
type typeTable struct {
	r    *reader
	defs map[string]*typeDef
	seen map[scoped]bool
}

type scoped struct {
	doc   *document
	scope string
}

// typeDef is one type definition and the namespace in which its own references are read.
type typeDef struct {
	value
	scope string
}

func newTypeTable(r *reader) typeTable {
	return typeTable{r: r, defs: map[string]*typeDef{}, seen: map[scoped]bool{}}
}

func (t typeTable) has(d *document, scope string) bool { return t.seen[scoped{d, scope}] }

// register adds the types of a document. The first definition of a name stays,
// so that the entry document and its first imports decide.
func (t typeTable) register(d *document, scope string) {
	t.seen[scoped{d, scope}] = true
	for _, section := range typeSections {
		for _, e := range d.root.get(section).entries() {
			t.r.values(2 + len(scope)/64)
			if _, ok := t.defs[scope+e.name]; !ok {
				t.defs[scope+e.name] = &typeDef{value: e.value, scope: scope}
			}
		}
	}
}

// lookup finds a definition seen from a namespace: there, in the entry's, and
// at last without the prefix that is written before it.
func (t typeTable) lookup(scope, name string) *typeDef {
	t.r.steps(1)
	for _, key := range []string{scope + name, name, name[strings.LastIndexByte(name, ':')+1:]} {
		if def, ok := t.defs[key]; ok {
			return def
		}
	}
	return nil
}

// kindOf follows derived_from to a type that is known by name.
func (t typeTable) kindOf(scope, name string) kind {
	k, _ := t.resolve(scope, name)
	return k
}

// resolve is kindOf, and returns where it ended: without prefix, the name that is known, or that is defined nowhere.
func (t typeTable) resolve(scope, name string) (kind, string) {
	for range maxDepth {
		if name == "" {
			return kindOther, ""
		}
		bare := name[strings.LastIndexByte(name, ':')+1:]
		if k, ok := wellKnown[bare]; ok {
			return k, bare
		}
		if k := otherTypes[bare]; k != kindUnknown && k != kindOther {
			return k, bare
		}
		def := t.lookup(scope, name)
		if def == nil {
			if otherTypes[bare] != kindUnknown || !strings.ContainsAny(bare, ".:") && toscaShort[bare] {
				return kindOther, bare
			}
			return kindUnknown, bare
		}
		name, scope = def.get("derived_from").str(), def.scope
	}
	return kindOther, ""
}

// toscaShort are short names of normative TOSCA types that need no definition.
var toscaShort = map[string]bool{"Root": true, "Compute": true, "SoftwareComponent": true, "File": true}

// chain returns the definitions of a type from itself to its root.
func (t typeTable) chain(scope, name string) []*typeDef {
	var defs []*typeDef
	for range maxDepth {
		if name == "" {
			break
		}
		def := t.lookup(scope, name)
		if def == nil {
			break
		}
		defs = append(defs, def)
		name, scope = def.get("derived_from").str(), def.scope
	}
	return defs
}

// checkCircles reports types that derive from themselves.
func (t typeTable) checkCircles() {
	for _, name := range slices.Sorted(maps.Keys(t.defs)) {
		def := t.defs[name]
		at, scope := def, def.scope
		for range maxDepth {
			next := at.get("derived_from")
			if !next.isText() {
				break
			}
			if at = t.lookup(scope, next.node.Value); at == nil {
				break
			}
			scope = at.scope
			if at == def {
				//findings:says name a type of SOL001 or TOSCA in derived_from
				def.get("derived_from").errorf("the type %s derives from itself", name)
				break
			}
		}
	}
}

// fallback returns the value that a type gives to a property: its default, or
// the single value that its constraints admit.
func fallback(defs []*typeDef, property string) value {
	for _, def := range defs {
		p := def.at("properties", property)
		if v := p.get("default"); v.ok() {
			return v
		}
		for _, c := range p.get("constraints").entries() {
			if items := c.items(); c.name == "valid_values" && len(items) == 1 {
				return items[0]
			}
		}
	}
	return value{}
}
