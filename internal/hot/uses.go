package hot

import (
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Use is a resource of a template, or the member of a group, with the type of Heat that it has.
type Use struct {
	Resource, Type string
	Place          vnfm.Place
	// Conditional is set when a condition decides whether there is such a resource.
	Conditional bool
}

// Uses lists the resources of all templates, top-level ones first. Nested templates, which are types too, are not among the types.
func (s *Source) Uses() []Use {
	var out []Use
	add := func(t *template, name string, definition map[string]any, conditional bool) {
		// A type of Heat has parts; what has none is a nested template.
		if typ := textOf(definition["type"]); strings.Contains(typ, "::") && s.nested[typ] == nil {
			out = append(out, Use{Resource: name, Type: typ, Place: t.place("resources", name), Conditional: conditional})
		}
	}
	templates := []*template{s.top}
	for _, name := range sorted(s.nested) {
		templates = append(templates, s.nested[name])
	}
	for _, t := range templates {
		for _, name := range sorted(t.section("resources")) {
			resource := mapOf(t.section("resources")[name])
			conditional := resource["condition"] != nil
			add(t, name, resource, conditional)
			for _, key := range memberKeys {
				add(t, name, mapOf(mapOf(resource["properties"])[key]), conditional)
			}
		}
	}
	return out
}
