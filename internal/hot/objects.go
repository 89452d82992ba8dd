package hot

import (
	"encoding/json"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const serverType = "OS::Nova::Server"

// Objects lists the resources of the stack, "<type> <name>", with a digest of what each
// is to be: its definition with the values that it refers to and the files that it
// needs. A copied resource is there once. Numbers of VNFCs do not matter, and neither
// does what the VIM has for a demand: what a demand is, does.
func (s *Source) Objects(r Request) (map[string]string, vnfm.Problems) {
	b := &builder{s: s, r: r, names: map[string]numberedName{}, describes: true}
	body := mapOf(document.Clone(s.Top))
	b.takeLinks(body)
	values := b.nfv(b.placed(s.leaves()))
	out := map[string]string{}
	for name, v := range mapOf(body["resources"]) {
		resource := mapOf(v)
		files := map[string]string{}
		s.filesOf(resource, files)
		numbers := map[string]any{}
		definition := Rewrite(b.withoutSize(name, resource), func(function string, arg any) (any, bool) {
			if function != fnParam {
				return nil, false
			}
			b.valuesOfVNFCs(arg, numbers)
			return b.valueOf(arg, values)
		})
		text, err := json.Marshal(map[string]any{"definition": definition, "files": files, "numbers": numbers})
		if err != nil {
			//findings:says replace what the reason names by a value that JSON has
			errorAt(&b.problems, s.top.place("resources", name), "the resource %s has no canonical form: %v", name, err)
			continue
		}
		out[s.kindOf(textOf(resource["type"]))+" "+name] = Digest(r.DigestKey, text)
	}
	return out, b.problems
}

// Digest sums up a part of a stack for a plan, see digest.Short. Values of parameters are in it, and without the key nobody can try guesses
// of what they are; without one there is no digest, and it is empty.
func Digest(key, text []byte) string {
	if len(key) == 0 {
		return ""
	}
	return digest.Short(key, text)
}

// kindOf is what a resource of some type is: that type, or of a nested template the
// server that it makes.
func (s *Source) kindOf(typ string) string {
	nested := s.nested[typ]
	if nested == nil {
		return typ
	}
	for _, resource := range nested.section("resources") {
		if textOf(mapOf(resource)["type"]) == serverType {
			return serverType
		}
	}
	return typ
}

// withoutSize is the definition of a resource; that of a group without its size.
func (b *builder) withoutSize(name string, resource map[string]any) map[string]any {
	kind, ok := groups[textOf(resource["type"])]
	if !ok || !b.s.belongs(name) {
		return resource
	}
	out := mapOf(document.Clone(resource))
	delete(mapOf(out["properties"]), kind.size)
	return out
}

// filesOf collects the files that a definition needs.
func (s *Source) filesOf(v any, files map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		if name := textOf(v["type"]); s.nested[name] != nil && files[name] == "" {
			files[name] = s.Files[name]
			s.filesOf(s.nested[name].body["resources"], files)
		}
		if function, arg := function(v); function == fnFile {
			files[textOf(arg)] = s.Files[textOf(arg)]
		}
		for _, item := range v {
			s.filesOf(item, files)
		}
	case []any:
		for _, item := range v {
			s.filesOf(item, files)
		}
	}
}

// valueOf is the value of a parameter, or of what is below it. Of a hidden one there is
// nothing in a digest, unless it is a secret of the request: a change of that is seen by
// nothing else.
func (b *builder) valueOf(arg any, values map[string]any) (any, bool) {
	name := target(arg)
	declared, ok := b.s.top.section("parameters")[name].(map[string]any)
	if !ok {
		return nil, false
	}
	v, given := b.r.Parameters[name]
	if !given {
		v = declared["default"]
	}
	if name == nfv {
		v = values
	}
	if _, secret := b.r.Secrets[name]; IsHidden(declared) && !secret {
		return "hidden", true
	}
	if list, ok := arg.([]any); ok && len(list) > 1 {
		below, found := lookUp(v, list[1:])
		if !found {
			return "", true
		}
		return below, true
	}
	return v, true
}

// valuesOfVNFCs collects what the request gives for single VNFCs below a plain name.
func (b *builder) valuesOfVNFCs(arg any, out map[string]any) {
	l, ok := asLeaf(arg, nil)
	if !ok || len(l.path) < 2 {
		return
	}
	section := textOf(l.path[0])
	for name, given := range mapOf(b.r.NFV[section]) {
		if parts := ofVNFC.FindStringSubmatch(name); parts != nil && parts[1] == l.name {
			out[fmt.Sprintf("%s.%s", section, name)] = given
		}
	}
}
