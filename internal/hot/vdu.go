package hot

import (
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// groups are the resources that make members, with the property that describes one
// and the property that says how many.
var groups = map[string]struct{ member, size string }{
	"OS::Heat::AutoScalingGroup": {"resource", "desired_capacity"},
	"OS::Heat::ResourceGroup":    {"resource_def", "count"},
}

// memberKeys are the properties in which groups describe a member.
var memberKeys = []string{"resource", "resource_def"}

// capacity is the leaf that says how many VNFCs there are.
const capacity = "desired_capacity"

// findVDUs finds what makes each VDU of the flavour. Of a copied VDU that is the
// resource by its id or name, or one whose nested template has a server by that name;
// of a grouped one the group by its id, of its size, or of such members. Nothing need make
// a foreign one.
func (s *Source) findVDUs(f *vnfm.Flavour, foreign []string, ps *vnfm.Problems) {
	resources := s.top.section("resources")
	takenBy := map[string]string{}
	for i := range f.VDUs {
		v := &f.VDUs[i]
		name := s.resourceOf(v)
		if name == "" && slices.Contains(foreign, v.ID) {
			continue
		}
		if name == "" {
			*ps = append(*ps, vnfm.Problem{
				File: s.top.file, Line: s.top.place("resources").Line, Column: s.top.place("resources").Column,
				Summary: "no resource of the template makes the VDU " + v.ID,
				Detail: "A resource is named " + v.ID + ", or is a group whose size is { get_param: [nfv, VDU, " + v.ID + ", " + capacity + "] }, " +
					"or has a nested template with a server of that name.",
			})
			continue
		}
		vdu := VDU{Resource: name}
		if _, ok := groups[textOf(mapOf(resources[name])["type"])]; ok {
			vdu.Form = Grouped
		} else if other, taken := takenBy[name]; taken {
			errorAt(ps, s.top.place("resources", name), "the resource %s makes the VDUs %s and %s, which cannot be scaled apart; give each a resource of its own", name, other, v.ID)
		}
		takenBy[name] = v.ID
		s.VDUs[v.ID] = vdu
	}
}

// Keep has the stack keep the resources of the template as they are: none is copied.
func (s *Source) Keep() {
	for id, vdu := range s.VDUs {
		if vdu.Form == Copied {
			vdu.Form = Kept
			s.VDUs[id] = vdu
		}
	}
	s.copies = map[string]string{}
}

func (s *Source) resourceOf(v *vnfm.VDU) string {
	resources := s.top.section("resources")
	for _, name := range []string{v.ID, v.Name} {
		if resources[name] != nil {
			return name
		}
	}
	for _, name := range sorted(resources) {
		resource := mapOf(resources[name])
		group, ok := groups[textOf(resource["type"])]
		if ok && slices.Contains(sizedBy(mapOf(resource["properties"])[group.size]), v.ID) {
			return name
		}
	}
	for _, name := range sorted(resources) {
		if s.makes(mapOf(resources[name]), v, 0) {
			return name
		}
	}
	return ""
}

// sizedBy lists the VDUs whose number a size is.
func sizedBy(size any) []string {
	var ids []string
	visit(size, nil, func(_ []yamlpos.Step, name string, arg any) bool {
		if list, ok := arg.([]any); ok && name == fnParam && len(list) == 4 && textOf(list[0]) == nfv && textOf(list[3]) == capacity {
			ids = append(ids, textOf(list[2]))
		}
		return true
	})
	return ids
}

// maxDepth bounds how deep nested templates are followed, which can contain themselves.
const maxDepth = 100

// makes tells whether the nested template of a resource, or of the members of a group,
// has a resource by the name of the VDU.
func (s *Source) makes(resource map[string]any, v *vnfm.VDU, depth int) bool {
	if depth > maxDepth || s.work(1) != nil {
		return false
	}
	if group, ok := groups[textOf(resource["type"])]; ok {
		return s.makes(mapOf(mapOf(resource["properties"])[group.member]), v, depth+1)
	}
	nested := s.nested[textOf(resource["type"])]
	if nested == nil {
		return false
	}
	inner := nested.section("resources")
	if inner[v.ID] != nil || inner[v.Name] != nil {
		return true
	}
	return slices.ContainsFunc(sorted(inner), func(name string) bool { return s.makes(mapOf(inner[name]), v, depth+1) })
}

// findCopies finds the resources that stand once for each VNFC of a copied VDU: that of
// the VDU, those by the names of its connection points and of its own storages, and what
// refers to one of these, such as a floating address of its port. A reference from an
// item of a list, from depends_on or from an output is one to all VNFCs; another one,
// from what belongs to another VDU, has a meaning only while there can be no second VNFC.
func (s *Source) findCopies(f *vnfm.Flavour, ps *vnfm.Problems) {
	s.copies = map[string]string{}
	resources := s.top.section("resources")
	for i := range f.VDUs {
		v := &f.VDUs[i]
		vdu, ok := s.VDUs[v.ID]
		if !ok || vdu.Form != Copied {
			continue
		}
		s.copies[vdu.Resource] = v.ID
		for _, cp := range f.ConnectionPoints {
			if cp.VDUID == v.ID && resources[cp.ID] != nil {
				s.copies[cp.ID] = v.ID
			}
		}
		for _, id := range v.StorageIDs {
			if st := f.Storage(id); st != nil && st.PerVNFC && resources[id] != nil && owner(f, id) == v.ID {
				s.copies[id] = v.ID
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, name := range sorted(resources) {
			if s.copies[name] != "" || s.belongs(name) {
				continue
			}
			if ids := s.followed(mapOf(resources[name])["properties"]); len(ids) == 1 {
				s.copies[name], grown = ids[0], true
			}
		}
	}
	for _, name := range sorted(resources) {
		for _, id := range s.followed(mapOf(resources[name])["properties"]) {
			v := f.VDU(id)
			if id == s.copies[name] || v.MaxInstances == 1 {
				continue
			}
			p := s.top.place("resources", name)
			*ps = append(*ps, vnfm.Problem{
				File: p.File, Line: p.Line, Column: p.Column,
				Summary: "the resource " + name + " refers to a resource of the VDU " + id + ", of which there can be several",
				Detail:  "Refer to them in a list, or set max_number_of_instances of the VDU to 1.",
			})
		}
	}
}

// belongs tells whether a resource is the group of a VDU.
func (s *Source) belongs(name string) bool {
	for _, v := range s.VDUs {
		if v.Resource == name {
			return true
		}
	}
	return false
}

// followed lists the copied VDUs that a value refers to elsewhere than from an item of a list.
func (s *Source) followed(v any) []string {
	var ids []string
	if s.work(1) != nil {
		return nil
	}
	if name, arg := function(v); name == fnResource || name == fnAttr {
		if id := s.copies[target(arg)]; id != "" {
			return []string{id}
		}
	}
	add := func(more []string) {
		for _, id := range more {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sorted(v) {
			add(s.followed(v[key]))
		}
	case []any:
		for _, item := range v {
			if name, arg := function(item); (name == fnResource || name == fnAttr) && s.copies[target(arg)] != "" {
				continue
			}
			add(s.followed(item))
		}
	}
	return ids
}

// owner is the first VDU that has a storage.
func owner(f *vnfm.Flavour, storage string) string {
	for i := range f.VDUs {
		if slices.Contains(f.VDUs[i].StorageIDs, storage) {
			return f.VDUs[i].ID
		}
	}
	return ""
}
