package hot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// hidden is what a declaration of a parameter says of it when Heat is to show a mask in the
// place of its value.
const hidden = "hidden"

// IsHidden reports whether a declaration of a parameter says so.
func IsHidden(declaration any) bool {
	yes, _ := mapOf(declaration)[hidden].(bool)
	return yes
}

// Hidden are the parameters of the top-level template that it declares hidden.
func (s *Source) Hidden() []string {
	declared := s.top.section("parameters")
	return slices.DeleteFunc(sorted(declared), func(name string) bool { return !IsHidden(declared[name]) })
}

// hide declares hidden what the secrets of the request reach: parameters of the top-level
// template, and those of nested ones that get a value of them.
func (b *builder) hide(out *Stack) error {
	names := map[string]bool{}
	for name := range b.r.Secrets {
		if _, declared := b.s.top.section("parameters")[name]; declared {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	out.Template["parameters"] = withHidden(mapOf(out.Template["parameters"]), names)
	nested := map[string]map[string]bool{}
	b.follow(b.s.Top["resources"], b.isSecret, nested)
	for typ, names := range nested {
		body := maps.Clone(b.s.nested[typ].body)
		body["parameters"] = withHidden(b.s.nested[typ].section("parameters"), names)
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s: %w", b.s.nested[typ].file, err)
		}
		out.Files[typ] = string(text)
	}
	return nil
}

func withHidden(declared map[string]any, names map[string]bool) map[string]any {
	out := maps.Clone(declared)
	for name := range names {
		p := maps.Clone(mapOf(out[name]))
		p[hidden] = true
		out[name] = p
	}
	return out
}

// follow notes the parameters of nested templates that resources give a secret to.
func (b *builder) follow(resources any, secret func(arg any) bool, nested map[string]map[string]bool) {
	for _, r := range mapOf(resources) {
		definitions := []map[string]any{mapOf(r)}
		for _, key := range memberKeys {
			definitions = append(definitions, mapOf(mapOf(mapOf(r)["properties"])[key]))
		}
		for _, definition := range definitions {
			typ := textOf(definition["type"])
			if b.s.nested[typ] == nil {
				continue
			}
			more := false
			for name, given := range mapOf(definition["properties"]) {
				if nested[typ][name] || !takes(given, secret) {
					continue
				}
				if nested[typ] == nil {
					nested[typ] = map[string]bool{}
				}
				nested[typ][name], more = true, true
			}
			if more {
				b.follow(b.s.nested[typ].section("resources"), func(arg any) bool { return nested[typ][target(arg)] }, nested)
			}
		}
	}
}

// takes reports whether there is a secret parameter in a value.
func takes(value any, secret func(arg any) bool) bool {
	found := false
	visit(value, nil, func(_ []yamlpos.Step, function string, arg any) bool {
		found = found || function == fnParam && secret(arg)
		return !found
	})
	return found
}

// isSecret reports whether what get_param names in the top-level template is a secret, holds
// one or is part of one. Below nfv a value of one VNFC is one of all.
func (b *builder) isSecret(arg any) bool {
	name := target(arg)
	given, ok := b.r.Secrets[name]
	if !ok || name != nfv {
		return ok
	}
	list, _ := arg.([]any)
	var path []string
	for _, step := range list[min(1, len(list)):] {
		path = append(path, fmt.Sprint(step))
	}
	return slices.ContainsFunc(vnfm.Changed(nil, given), func(way []string) bool {
		n := min(len(way), len(path))
		if way = slices.Clone(way); len(way) > 1 && len(path) > 1 {
			if parts := ofVNFC.FindStringSubmatch(way[1]); parts != nil && parts[1] == path[1] {
				way[1] = path[1]
			}
		}
		return slices.Equal(way[:n], path[:n])
	})
}
