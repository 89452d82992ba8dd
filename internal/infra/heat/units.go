package heat

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// What Heat does to a server, the worst last.
const (
	rankInPlace = iota
	rankResized
	rankRebuilt
	rankReplaced
)

const imagePolicy = "image_update_policy"

// units are the VDUs of a stack, with the properties of a server of each.
func (r *rendering) units(t *vnfm.Target, preview *vnfm.Preview) map[string]vnfm.Unit {
	content := r.content()
	_, hidden := parted(content)
	text, err := json.Marshal(hidden)
	if err != nil {
		return nil
	}
	top, err := scopeOf(content, hot.Digest(t.DigestKey, text))
	if err != nil {
		return nil
	}
	out := make(map[string]vnfm.Unit, len(preview.VDUs))
	for id, state := range preview.VDUs {
		unit := vnfm.Unit{Count: state.Replicas}
		properties := top.firstServer(top.rootOf(r.source.VDUs[id]), 0)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			unit.Parts = append(unit.Parts, vnfm.UnitPart{Name: name, Value: properties[name], Effect: effectOf(name, properties)})
		}
		out[id] = unit
	}
	return out
}

func (r *rendering) content() *openstack.StackContent {
	return &openstack.StackContent{Template: r.stack.Template, Files: r.stack.Files, Parameters: r.stack.Parameters}
}

// rootOf is the definition of the VNFCs of a VDU: of the group, or of the first copy.
func (c *scope) rootOf(vdu hot.VDU) any {
	if c.resources[vdu.Resource] != nil {
		return c.resources[vdu.Resource]
	}
	for _, name := range slices.Sorted(maps.Keys(c.resources)) {
		if copied, ok := strings.CutPrefix(name, vdu.Resource+"-"); ok && strings.Trim(copied, "0123456789") == "" {
			return c.resources[name]
		}
	}
	return nil
}

// firstServer returns the properties of a server below a definition; nil for none.
func (c *scope) firstServer(definition any, depth int) map[string]any {
	resource, _ := definition.(map[string]any)
	typ, _ := resource[keyType].(string)
	given := section(resource, keyProperties)
	if typ == serverType {
		resolved, _ := c.resolve(given).(map[string]any)
		return resolved
	}
	if member := memberOf[typ]; member != "" && depth < maxNesting {
		return c.firstServer(given[member], depth+1)
	}
	nested := c.nested(typ, given)
	if nested == nil || depth >= maxNesting {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(nested.resources)) {
		if found := nested.firstServer(nested.resources[name], depth+1); found != nil {
			return found
		}
	}
	return nil
}

// effectOf says what Heat does to a server when a property changes; see replaces.
func effectOf(name string, properties map[string]any) vnfm.Effect {
	switch {
	case name == "flavor" && properties[flavorPolicy] != "REPLACE":
		return vnfm.Effect{Rank: rankResized, Text: "resized, interrupted"}
	case name == "image" && properties[imagePolicy] != "REPLACE":
		return vnfm.Effect{Rank: rankRebuilt, Text: "rebuilt, interrupted"}
	case name == "user_data" && properties[userDataPolicy] == "IGNORE", name != "flavor" && slices.Contains(inPlace, name):
		return vnfm.Effect{Rank: rankInPlace, Text: "updated in place"}
	default:
		return vnfm.Effect{Rank: rankReplaced, Text: "replaced, interrupted"}
	}
}

// fields are the templates as the package has them, and the values of their parameters.
func (r *rendering) fields(t *vnfm.Target) map[string]any {
	values, hidden := parted(r.content())
	for name, value := range hidden {
		text, err := json.Marshal(value)
		if err != nil {
			continue
		}
		values[name] = fielddiff.Secret(hot.Digest(t.DigestKey, text))
	}
	all := maps.Clone(r.source.Top)
	all["values"] = values
	for name, text := range r.source.Files {
		var decoded any = text
		if yaml.Unmarshal([]byte(text), &decoded) != nil {
			decoded = text
		}
		all[name] = decoded
	}
	return map[string]any{stackKey(t.Instance): plain(all)}
}

// plain gives maps and lists the types that they decode to, and leaves secrets.
func plain(v any) any {
	return document.Map(v, func(v any) any {
		switch v.(type) {
		case fielddiff.Secret, string, bool, nil:
			return v
		}
		text, err := json.Marshal(v)
		var out any
		if err != nil || json.Unmarshal(text, &out) != nil {
			return nil
		}
		return out
	})
}
