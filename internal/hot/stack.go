package hot

import (
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// builder makes the stack of one request.
type builder struct {
	s *Source
	r Request
	// names are the numbered names in the stack, in their parts.
	names    map[string]numberedName
	problems vnfm.Problems
	// spent is set when the budget was; the one problem says so.
	spent bool
	// describes has assets described by their demands, and numbers of VNFCs left out.
	describes bool
}

// Stack makes what Heat is sent. A request without assets makes the same, with a
// description of each flavour and image in its place.
func (s *Source) Stack(r Request) (*Stack, vnfm.Problems) {
	b := &builder{s: s, r: r, names: map[string]numberedName{}}
	body := b.expand()
	if b.spent {
		return nil, b.problems
	}
	leaves := leavesOf(body, b.names, func([]yamlpos.Step) vnfm.Place { return vnfm.Place{} })
	leaves = b.placed(append(leaves, s.nestedLeaves()...))
	computed := b.nfv(leaves)
	out := &Stack{Template: body, Files: maps.Clone(s.Files), Parameters: b.parameters(), Zones: b.zones(leaves, computed)}
	if _, declared := s.top.section("parameters")[nfv]; declared {
		out.Parameters[nfv] = computed
	} else if len(r.NFV) > 0 {
		b.refuse(nfv, vnfm.Place{}, "the template "+s.top.file+" has no parameter nfv", "declare it with type json, or remove additional_params.nfv")
	}
	b.checkUse()
	b.checkLinks()
	if err := b.hide(out); err != nil {
		//findings:says replace what the reason names by a value that JSON has
		errorAt(&b.problems, s.top.place("parameters"), "a template cannot be written with hidden parameters: %v", err)
	}
	return out, b.problems
}

// placed gives leaves of the stack the places that they have in the package.
func (b *builder) placed(leaves []leaf) []leaf {
	at := map[string]vnfm.Place{}
	for _, l := range b.s.leaves() {
		at[l.String()] = l.at
	}
	for i := range leaves {
		plain := leaves[i].plain()
		if p, ok := at[plain.String()]; ok {
			leaves[i].at = p
		}
	}
	return leaves
}

// checkLinks warns of networks that the template has no place for.
func (b *builder) checkLinks() {
	if b.s.passesWholeNFV() {
		return
	}
	used := map[string]bool{}
	for _, l := range b.s.leaves() {
		if l.section() == "CP" {
			used[l.name] = true
			used[b.connectionOf(l.name).cp.VirtualLinkID] = true
		}
	}
	for _, id := range sorted(b.r.Links) {
		if b.s.top.section("resources")[id] == nil && !used[id] {
			b.problems = append(b.problems, vnfm.Problem{
				Severity: vnfm.SeverityWarning,
				Summary:  "the template " + b.s.top.file + " has no place for the network of " + id,
				Detail:   "It asks for networks by { get_param: [nfv, CP, <connection point>, network] }, or has a resource by the name of the virtual link.",
			})
		}
	}
}

// refuse adds an error of an additional parameter, once.
func (b *builder) refuse(key string, at vnfm.Place, summary, detail string) {
	b.add(vnfm.Problem{
		File: at.File, Line: at.Line, Column: at.Column,
		Attribute: vnfm.AttributeParams, Key: key, Summary: summary, Detail: detail,
	})
}

// refuseAt adds a problem of a value below nfv that was given, once.
func (b *builder) refuseAt(path []any, severity vnfm.Severity, summary, detail string) {
	p := vnfm.Problem{Severity: severity, Attribute: vnfm.AttributeParams, Key: nfv, Summary: summary, Detail: detail}
	if _, secret := lookUp(b.r.Secrets[nfv], path); secret {
		p.Attribute = vnfm.AttributeSecretParams
	}
	b.add(p)
}

func (b *builder) add(p vnfm.Problem) {
	if !slices.Contains(b.problems, p) {
		b.problems = append(b.problems, p)
	}
}
