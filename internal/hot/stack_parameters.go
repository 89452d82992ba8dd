package hot

import (
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// nfv computes the parameter: the value of each leaf, and over them what the request
// gives. A value under the plain name of a copied VDU holds for all its VNFCs.
func (b *builder) nfv(leaves []leaf) map[string]any {
	values, answers := grown{}, make([]answer, len(leaves))
	for i := range leaves {
		answers[i] = b.compute(&leaves[i])
		if answers[i].value != nil {
			values.set(leaves[i].path, answers[i].value)
		}
	}
	out := mapOf(merge(values.value(), b.patch(leaves)))
	for i := range leaves {
		l, a := &leaves[i], answers[i]
		plain := l.plain()
		if _, given := lookUp(b.r.NFV, plain.path); given && l.key() == capacity {
			b.refuseAt(plain.path, vnfm.SeverityError, plain.String()+" is given, but the scale levels determine it", "Set scale_levels or the instantiation level.")
			continue
		}
		if _, ok := lookUp(out, l.path); ok {
			continue
		}
		if a.wrong != "" {
			b.refuse(nfv, l.at, a.wrong, "")
			continue
		}
		advice := "Set additional_params." + plain.String() + "."
		if a.advice != "" {
			advice = a.advice + " Or set additional_params." + plain.String() + "."
		}
		b.refuse(nfv, l.at, "the template asks for "+plain.String()+", which is not given", advice)
	}
	return out
}

// patch is what the request gives, by the names in the stack.
func (b *builder) patch(leaves []leaf) map[string]any {
	out := mapOf(document.Clone(b.r.NFV))
	if out == nil {
		out = map[string]any{}
	}
	used := map[string]bool{}
	for _, l := range leaves {
		if l.number < 0 && l.name != "" {
			used[textOf(l.path[0])+pathMark+l.name] = true
		}
	}
	for _, l := range leaves {
		if l.number < 0 {
			continue
		}
		section, name := textOf(l.path[0]), textOf(l.path[1])
		given := mapOf(b.r.NFV[section])
		all, ok := given[l.name]
		if !ok {
			continue
		}
		if _, own := given[name]; !own {
			mapOf(out[section])[name] = all
		} else if m, isMap := all.(map[string]any); isMap {
			mapOf(out[section])[name] = vnfm.MergeValues(m, mapOf(given[name]))
		}
		if !used[section+pathMark+l.name] {
			delete(mapOf(out[section]), l.name)
		}
	}
	return out
}

// parameters are the others that the template declares.
func (b *builder) parameters() map[string]any {
	out := map[string]any{}
	declared := b.s.top.section("parameters")
	for _, name := range sorted(declared) {
		given, ok := b.r.Parameters[name]
		_, hasDefault := mapOf(declared[name])["default"]
		switch {
		case name == nfv:
		case ok:
			out[name] = given
		case !hasDefault:
			b.refuse(name, b.s.top.place("parameters", name),
				fmt.Sprintf("the template has the parameter %q, which has no default and is not given", name), "Set additional_params."+name+".")
		}
	}
	return out
}

// ofVNFC takes a numbered name apart.
var ofVNFC = lazyregexp.New(`^(.+)-\d+$`)

// checkUse warns of values that no template asks for: most are misspelt.
func (b *builder) checkUse() {
	if b.s.passesWholeNFV() {
		return
	}
	leaves := b.s.leaves()
	uses := func(path []any) bool {
		return slices.ContainsFunc(leaves, func(l leaf) bool {
			for i := range min(len(path), len(l.path)) {
				if path[i] != l.path[i] {
					return false
				}
			}
			return true
		})
	}
	for _, section := range sorted(b.r.NFV) {
		for _, name := range sorted(mapOf(b.r.NFV[section])) {
			given, ok := mapOf(b.r.NFV[section])[name].(map[string]any)
			if !ok {
				given = map[string]any{"": nil}
			}
			for _, key := range sorted(given) {
				path := []any{section, name}
				if key != "" {
					path = append(path, key)
				}
				parts := ofVNFC.FindStringSubmatch(name)
				if uses(path) || parts != nil && uses(append([]any{section, parts[1]}, path[2:]...)) {
					continue
				}
				l := leaf{path: path}
				b.refuseAt(path, vnfm.SeverityWarning, "the template "+b.s.top.file+" does not ask for "+l.String(), "The value has no effect.")
			}
		}
	}
}
