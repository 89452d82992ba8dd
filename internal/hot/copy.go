package hot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vnfc is one VNFC of a copied VDU.
type vnfc struct {
	vdu    string
	number int
}

// numbered is the name of a resource, connection point or storage for one VNFC, as
// Tacker's Standard class has it.
func numbered(name string, number int) string { return name + "-" + strconv.Itoa(number) }

// NameOf is the name that the template has for a resource of the top-level stack: that of a copy is without the number of its VNFC.
func (s *Source) NameOf(resource string) string {
	i := strings.LastIndex(resource, "-")
	if i < 0 || s.copies[resource[:i]] == "" {
		return resource
	}
	if _, err := strconv.ParseUint(resource[i+1:], 10, 32); err != nil {
		return resource
	}
	return resource[:i]
}

// expand makes the resources and outputs of the stack: what stands for the managed
// virtual links goes, the resources of copied VDUs stand once for each VNFC.
func (b *builder) expand() map[string]any {
	body := mapOf(document.Clone(b.s.Top))
	b.takeLinks(body)
	out := map[string]any{}
	resources := mapOf(body["resources"])
	b.s.awaitSubnets(resources)
	for _, name := range sorted(resources) {
		resource, id := resources[name], b.s.copies[name]
		if id == "" {
			out[name] = b.resource(name, mapOf(resource), nil)
			continue
		}
		numbers := b.r.VNFCs[id]
		if !b.take(name, sizeOf(resource)*int64(len(numbers))) {
			return body
		}
		for i, number := range numbers {
			made := b.resource(name, mapOf(resource), &vnfc{id, number})
			if b.r.InTurn && i > 0 && name == b.s.VDUs[id].Resource {
				made["depends_on"] = listOf(append(dependsOn(made), numbered(name, numbers[i-1])))
			}
			out[numbered(name, number)] = made
		}
	}
	for id, v := range b.s.VDUs {
		if v.Form == Grouped {
			b.size(id, v.Resource, mapOf(out[v.Resource]))
		}
	}
	body["resources"] = out
	if outputs, ok := body["outputs"]; ok {
		body["outputs"] = b.all(outputs)
	}
	return body
}

// take draws values of the stack for copies of a resource, or for references to them. Their number is the request's, and the
// size of one the package's.
func (b *builder) take(name string, n int64) bool {
	if b.spent {
		return false
	}
	if err := b.s.values(n); err != nil {
		b.spent = true
		b.problems = nil
		b.fail(b.s.top.place("resources", name), "scale the VDU to fewer VNFCs, or make its templates smaller",
			"with %d VNFCs of the VDU %s the stack has %v", len(b.r.VNFCs[b.s.copies[name]]), b.s.copies[name], err)
	}
	return !b.spent
}

// sizeOf is how many values a value is with all in it.
func sizeOf(v any) int64 {
	size := int64(1)
	switch v := v.(type) {
	case map[string]any:
		for _, each := range v {
			size += sizeOf(each)
		}
	case []any:
		for _, each := range v {
			size += sizeOf(each)
		}
	}
	return size
}

// resource makes one resource of the stack; self is the VNFC that it is for, if it is a copy.
func (b *builder) resource(name string, resource map[string]any, self *vnfc) map[string]any {
	out := map[string]any{}
	for key, v := range resource {
		switch key {
		case "depends_on":
			var names []string
			for _, other := range dependsOn(resource) {
				names = append(names, b.namesOf(other, self)...)
			}
			if len(names) > 0 {
				out[key] = listOf(names)
			}
		default:
			out[key] = b.refer(name, v, self)
		}
	}
	return out
}

// namesOf lists what a resource is called in the stack: itself, its copy for the same
// VNFC, or all copies.
func (b *builder) namesOf(name string, self *vnfc) []string {
	id := b.s.copies[name]
	switch {
	case id == "":
		return []string{name}
	case self != nil && self.vdu == id:
		return []string{numbered(name, self.number)}
	}
	names := []string{}
	// Each becomes a call with a name of its own.
	if !b.take(name, 4*int64(len(b.r.VNFCs[id]))) {
		return names
	}
	for _, number := range b.r.VNFCs[id] {
		names = append(names, numbered(name, number))
	}
	return names
}

// refer renames what a definition refers to.
func (b *builder) refer(in string, v any, self *vnfc) any {
	switch name, arg := function(v); name {
	case fnParam:
		return map[string]any{fnParam: b.number(arg, self)}
	case fnResource, fnAttr:
		if names := b.namesOf(target(arg), self); len(names) == 1 {
			return renamed(name, arg, names[0])
		} else if len(names) > 1 {
			b.fail(b.s.top.place("resources", in), "refer to it in a list, which then has an entry for each VNFC", "the resource %s refers to %s, of which there are %d", in, target(arg), len(names))
		} else {
			b.fail(b.s.top.place("resources", in), "keep one VNFC, or remove the reference", "the resource %s refers to %s, of which there is none, since its VDU has no VNFC", in, target(arg))
		}
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = b.refer(in, item, self)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if name, arg := function(item); (name == fnResource || name == fnAttr) && b.s.copies[target(arg)] != "" {
				for _, other := range b.namesOf(target(arg), self) {
					out = append(out, renamed(name, arg, other))
				}
				continue
			}
			out = append(out, b.refer(in, item, self))
		}
		return out
	default:
		return v
	}
}

// all rewrites outputs: one that refers to a copied resource becomes a list, with an
// item for each VNFC.
func (b *builder) all(v any) any {
	return Rewrite(v, func(name string, arg any) (any, bool) {
		if (name != fnResource && name != fnAttr) || b.s.copies[target(arg)] == "" {
			return nil, false
		}
		list := []any{}
		for _, other := range b.namesOf(target(arg), nil) {
			list = append(list, renamed(name, arg, other))
		}
		return list, true
	})
}

// renamed is a call that refers to another resource.
func renamed(function string, arg any, name string) map[string]any {
	if list, ok := arg.([]any); ok {
		list = slices.Clone(list)
		list[0] = name
		return map[string]any{function: list}
	}
	return map[string]any{function: name}
}

// number gives the name in a path below nfv the number of the VNFC.
func (b *builder) number(arg any, self *vnfc) any {
	list, ok := arg.([]any)
	if !ok || self == nil || len(list) < 3 || textOf(list[0]) != nfv || textOf(list[2]) == "" {
		return arg
	}
	list = slices.Clone(list)
	name := textOf(list[2])
	list[2] = numbered(name, self.number)
	b.names[textOf(list[2])] = numberedName{name, self.number}
	return list
}

// size makes a group as large as the VDU has VNFCs, where its template says otherwise.
func (b *builder) size(id, name string, group map[string]any) {
	kind := groups[textOf(group["type"])]
	properties := mapOf(group["properties"])
	if properties == nil {
		return
	}
	count := b.r.Counts[id]
	if len(sizedBy(properties[kind.size])) == 0 {
		properties[kind.size] = count
	}
	at := b.s.top.place("resources", name)
	if most, ok := properties["max_size"].(int64); ok && int64(count) > most {
		b.fail(at, "set a lower scale level, or raise max_size in the template", "the VDU %s is to have %d VNFCs, but its group %s has %d at most (max_size)", id, count, name, most)
	}
	if least, ok := properties["min_size"].(int64); ok && int64(count) < least {
		b.fail(at, "set a higher scale level, or lower min_size in the template", "the VDU %s is to have %d VNFCs, but its group %s has %d at least (min_size)", id, count, name, least)
	}
	for _, other := range sorted(b.s.VDUs) {
		if other > id && b.s.VDUs[other].Resource == name && b.r.Counts[other] != count {
			b.fail(at, "scale both alike, or give each VDU a group of its own", "the group %s makes the VDUs %s and %s, which are to have %d and %d VNFCs", name, id, other, count, b.r.Counts[other])
		}
	}
}

// takeLinks puts the networks of managed virtual links into the place of the resources
// that the template has for them: these and their subnets go.
func (b *builder) takeLinks(body map[string]any) {
	resources := mapOf(body["resources"])
	gone := map[string]string{}
	for _, vl := range b.r.Flavour.VirtualLinks {
		link, ok := b.r.Links[vl.ID]
		if !ok || resources[vl.ID] == nil {
			continue
		}
		gone[vl.ID] = link.NetworkID
		for name, resource := range resources {
			properties := mapOf(mapOf(resource)["properties"])
			if textOf(mapOf(resource)["type"]) != subnetType {
				continue
			}
			for _, key := range []string{"network", "network_id"} {
				if slices.Contains(References(properties[key]), vl.ID) {
					gone[name] = link.at(0).SubnetID
				}
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	for name := range gone {
		delete(resources, name)
	}
	for _, name := range sorted(resources) {
		resource := mapOf(resources[name])
		needs := dependsOn(resource)
		kept := slices.DeleteFunc(slices.Clone(needs), func(n string) bool { _, ok := gone[n]; return ok })
		if len(kept) < len(needs) {
			resource["depends_on"] = listOf(kept)
		}
		if properties, ok := resource["properties"]; ok {
			resource["properties"] = b.taken(properties, gone, b.s.top.place("resources", name))
		}
	}
	outputs := mapOf(body["outputs"])
	for name, out := range outputs {
		if slices.ContainsFunc(References(out), func(n string) bool { _, ok := gone[n]; return ok }) {
			delete(outputs, name)
		}
	}
}

// taken replaces references to what a managed virtual link has taken the place of.
func (b *builder) taken(v any, gone map[string]string, at vnfm.Place) any {
	return Rewrite(v, func(name string, arg any) (any, bool) {
		id, ok := gone[target(arg)]
		switch {
		case !ok || name != fnResource && name != fnAttr:
			return nil, false
		case name == fnAttr:
			b.fail(at, "read it from a resource that stays, or make the virtual link instead of giving it", "the template reads an attribute of %s, which a network of the VIM replaces", target(arg))
		case id == "":
			b.fail(at, "give a network that has a subnet, or remove the reference", "the template refers to %s, which a network of the VIM replaces; no subnet of that network is given", target(arg))
		}
		return id, true
	})
}

func (b *builder) fail(at vnfm.Place, detail, format string, args ...any) {
	p := vnfm.Problem{File: at.File, Line: at.Line, Column: at.Column, Summary: fmt.Sprintf(format, args...), Detail: detail}
	if !slices.Contains(b.problems, p) && (!b.spent || len(b.problems) == 0) {
		b.problems = append(b.problems, p)
	}
}
