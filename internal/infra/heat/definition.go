package heat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

// Functions of templates.
const (
	fnParam    = "get_param"
	fnFile     = "get_file"
	fnResource = "get_resource"
)

// Further parts of templates.
const (
	keyParameters = "parameters"
	keyProperties = "properties"
	keyDependsOn  = "depends_on"
)

// memberOf is the property in which a group describes its members.
var memberOf = map[string]string{"OS::Heat::AutoScalingGroup": "resource", "OS::Heat::ResourceGroup": "resource_def"}

// volumeContent are the properties of a volume that say what is on it: with another one, whatever has the volume gets another volume.
var volumeContent = []string{"image", "snapshot_id", "source_volid", "backup_id", "availability_zone"}

// maxNesting bounds how deep nested templates are followed, which can contain themselves.
const maxNesting = 10

// scope is a template with the values of its parameters.
type scope struct {
	resources, declared map[string]any
	values              map[string]any
	files               map[string]string
	// hidden stands for the values of hidden parameters, which Heat never shows.
	hidden string
	// literal has references to volumes left as they are.
	literal bool
	// vague is set when a value was met that is not known: a hidden one, or one that Heat computes.
	vague bool
}

// scopeOf is the top-level template of a stack. Its numbers have the types of JSON, so that a template read back from Heat compares equal to one that is sent.
func scopeOf(c *openstack.StackContent, hidden string) (*scope, error) {
	text, err := json.Marshal([]any{c.Template, c.Parameters})
	if err != nil {
		return nil, fmt.Errorf("reading the template of a stack: %w", err)
	}
	var plain [2]map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, fmt.Errorf("reading the template of a stack: %w", err)
	}
	s := &scope{values: plain[1], files: c.Files, hidden: hidden}
	s.resources, s.declared = section(plain[0], keyResources), section(plain[0], keyParameters)
	return s, nil
}

func section(body map[string]any, name string) map[string]any {
	out, _ := body[name].(map[string]any)
	return out
}

// server returns the properties of the server at a path of names below a definition, with the values of parameters in place; ok is
// false where the template has no server there.
func (c *scope) server(definition any, path []string, depth int) (properties map[string]any, ok bool) {
	resource, _ := definition.(map[string]any)
	typ, _ := resource[keyType].(string)
	given := section(resource, keyProperties)
	if typ == serverType {
		resolved, _ := c.resolve(given).(map[string]any)
		return resolved, len(path) == 0
	}
	if len(path) == 0 || depth > maxNesting {
		return nil, false
	}
	if member := memberOf[typ]; member != "" {
		return c.server(given[member], path[1:], depth+1)
	}
	nested := c.nested(typ, given)
	if nested == nil {
		return nil, false
	}
	return nested.server(nested.resources[path[0]], path[1:], depth+1)
}

// nested is the template that a type is, with properties as the values of its parameters; nil when it is none.
func (c *scope) nested(typ string, properties map[string]any) *scope {
	var body map[string]any
	if c.files[typ] == "" || yaml.Unmarshal([]byte(c.files[typ]), &body) != nil {
		return nil
	}
	values, _ := c.resolve(properties).(map[string]any)
	return &scope{resources: section(body, keyResources), declared: section(body, keyParameters), values: values, files: c.files, hidden: c.hidden}
}

// resolve replaces calls of functions by their values.
func (c *scope) resolve(v any) any { return hot.Rewrite(v, c.answer) }

// answer is the value of a function; known is false for one that is left to Heat.
func (c *scope) answer(name string, arg any) (value any, known bool) {
	switch name {
	case fnParam:
		return c.param(arg)
	case fnFile:
		text, ok := c.files[fmt.Sprint(arg)]
		return text, ok
	case fnResource:
		volume := section(c.resources, fmt.Sprint(arg))
		if c.literal || volume[keyType] != volumeType {
			return nil, false
		}
		content := maps.Clone(section(volume, keyProperties))
		maps.DeleteFunc(content, func(key string, _ any) bool { return !slices.Contains(volumeContent, key) })
		return map[string]any{fnResource: arg, volumeType: c.resolve(content)}, true
	default:
		return nil, false
	}
}

// param is the value of a parameter, or of what is below it.
func (c *scope) param(arg any) (value any, known bool) {
	path, ok := arg.([]any)
	if !ok {
		path = []any{arg}
	}
	if len(path) == 0 {
		return nil, false
	}
	name := fmt.Sprint(path[0])
	declaration := section(c.declared, name)
	if declaration == nil {
		// Pseudo parameters, such as the id of the stack, keep their values.
		c.vague = c.vague || !strings.HasPrefix(name, "OS::")
		return nil, false
	}
	if hot.IsHidden(declaration) {
		c.vague = true
		return "hidden " + c.hidden, true
	}
	value, given := c.values[name]
	if !given {
		value, given = declaration["default"]
	}
	if !given {
		c.vague = true
		return nil, false
	}
	for _, step := range path[1:] {
		value = below(value, fmt.Sprint(c.resolve(step)))
	}
	return value, true
}

// below is the value of a key of a map, or of an item of a list. One that is not there is empty, as Heat has it.
func below(v any, step string) any {
	switch v := v.(type) {
	case map[string]any:
		if item, ok := v[step]; ok {
			return item
		}
	case []any:
		if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < len(v) {
			return v[n]
		}
	}
	return ""
}

// sameFiles reports whether a type is the same nested template in both, with all that is nested in it.
func sameFiles(a, b map[string]string, typ string, depth int) bool {
	if a[typ] != b[typ] {
		return false
	}
	if a[typ] == "" || depth > maxNesting {
		return true
	}
	for name := range a {
		if name != typ && strings.Contains(a[typ], name) && !sameFiles(a, b, name, depth+1) {
			return false
		}
	}
	return true
}
