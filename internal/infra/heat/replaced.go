package heat

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Properties of a server that say how Heat applies another flavor or other user data.
const (
	flavorPolicy   = "flavor_update_policy"
	userDataPolicy = "user_data_update_policy"
)

// inPlace are the properties of a server that Heat changes while the server stays what it is.
var inPlace = []string{
	"name", "metadata", "networks", "tags", "admin_pass", "flavor", "deployment_swift_data", "software_config_transport",
	flavorPolicy, "image_update_policy", userDataPolicy,
}

// Replacing implements vnfm.InfraDriver: the servers whose definition becomes another one, so that Heat replaces them or has Nova
// rebuild them, which keeps the id.
func (d *Driver) Replacing(ctx context.Context, t *vnfm.Target) ([]vnfm.Replacement, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	l, err := s.look(ctx)
	if err != nil || l == nil {
		return nil, err
	}
	leaving, err := s.leaving(l)
	if err != nil {
		return nil, err
	}
	want, err := s.wanted(ctx, l, leaving, true)
	if err != nil {
		return nil, err
	}
	return s.replacements(l, leaving, want.content, want.note)
}

// replacements are the VNFCs of a stack, but for those that leave, that are replaced with what is wanted.
func (s *session) replacements(l *live, leaving map[string][]*component, want *openstack.StackRequest, n *note) ([]vnfm.Replacement, error) {
	has, err := scopeOf(l.content, l.note.Hidden)
	if err != nil {
		return nil, err
	}
	gets, err := scopeOf(&want.StackContent, n.Hidden)
	if err != nil {
		return nil, err
	}
	present, err := presentScope(l)
	if err != nil {
		return nil, err
	}
	var out []vnfm.Replacement
	for _, c := range s.components(l) {
		goes := slices.ContainsFunc(leaving[c.vdu], func(other *component) bool { return other.id() == c.id() })
		if goes || c.server == nil || gets.resources[c.root] == nil {
			continue
		}
		path := strings.Split(l.pathOf(c.resource), "/")[1:]
		before, known := has.server(has.resources[c.root], path, 0)
		after, stays := gets.server(gets.resources[c.root], path, 0)
		if !known && !stays || known && stays && !replaces(before, after) {
			continue
		}
		_, err := s.held(l, present, c, want)
		out = append(out, vnfm.Replacement{VNFC: c.id(), AtOnce: err != nil})
	}
	return out, nil
}

// replaces reports whether a server with some properties becomes another one with others.
func replaces(before, after map[string]any) bool {
	for _, all := range []map[string]any{before, after} {
		for key := range all {
			if sameJSON(before[key], after[key]) {
				continue
			}
			switch {
			case key == "flavor" && after[flavorPolicy] == "REPLACE":
				return true
			case key == "user_data" && after[userDataPolicy] == "IGNORE":
			case !slices.Contains(inPlace, key):
				return true
			}
		}
	}
	return false
}

func sameJSON(a, b any) bool {
	left, leftErr := json.Marshal(a)
	right, rightErr := json.Marshal(b)
	return leftErr == nil && rightErr == nil && string(left) == string(right)
}

// presentScope is the template of a live stack as held reads it.
func presentScope(l *live) (*scope, error) {
	has, err := scopeOf(l.content, "")
	if err == nil {
		has.literal = true
	}
	return has, err
}

// held is the definition that a copied VNFC has in its stack, whose template has is, with the values of parameters in place, so that the VNFC
// stays as it is whatever the others become. It is an error when that cannot be: Heat changes all members of a group, a nested template has one
// content for all VNFCs, and the value of a hidden parameter cannot be read.
func (s *session) held(l *live, has *scope, c *component, want *openstack.StackRequest) (map[string]any, error) {
	refuse := func(format string, args ...any) (map[string]any, error) {
		return nil, fmt.Errorf("VNFC %s cannot stay as it is while others are replaced: %s", c.id(), fmt.Sprintf(format, args...))
	}
	if s.source.VDUs[c.vdu].Form == hot.Grouped {
		return refuse("it is a member of the group %s", c.root)
	}
	has.vague = false
	definition, _ := has.resolve(has.resources[c.root]).(map[string]any)
	if has.vague {
		return refuse("its definition has a value that is hidden, or that Heat computes")
	}
	typ, _ := definition[keyType].(string)
	if !sameFiles(l.content.Files, want.Files, typ, 0) {
		return refuse("the template %s is another one", typ)
	}
	resources := section(want.Template, keyResources)
	for _, name := range hot.References(definition) {
		if resources[name] == nil {
			return refuse("it refers to resource %s, which goes", name)
		}
	}
	if needs, ok := definition[keyDependsOn].([]any); ok {
		definition[keyDependsOn] = slices.DeleteFunc(needs, func(name any) bool { return resources[fmt.Sprint(name)] == nil })
	}
	return definition, nil
}

// hold has the VNFCs that a target says are replaced later stay as they are in what is wanted.
func (s *session) hold(l *live, want *openstack.StackRequest, n *note) error {
	if l == nil || len(s.target.Held) == 0 {
		return nil
	}
	has, err := presentScope(l)
	if err != nil {
		return err
	}
	n.Objects = maps.Clone(n.Objects)
	for _, c := range s.components(l) {
		if !slices.Contains(s.target.Held, c.id()) || section(want.Template, keyResources)[c.root] == nil {
			continue
		}
		definition, err := s.held(l, has, c, want)
		if err != nil {
			return err
		}
		section(want.Template, keyResources)[c.root] = definition
		key := s.objectOf(c.vdu, "")
		if key == "" {
			key = stackKey(s.target.Instance)
		}
		// What is not done yet is seen to be so, also where the stack was changed outside of Terraform alone.
		n.Objects[key] = l.note.Objects[key]
		if n.Objects[key] == "" || n.Objects[key] == s.objects[key] {
			n.Objects[key] = vnfm.Drifted + "VNFC " + c.id() + " is still to be replaced"
		}
	}
	return nil
}
