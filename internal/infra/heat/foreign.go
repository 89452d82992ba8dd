package heat

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Foreign is a stack that belongs to no instance, as templates of a package have it.
type Foreign struct {
	Name string
	// At is when it was made, or updated last.
	At time.Time
	// Template is the top-level template, Files are nested templates and files of get_file by the names that templates have for them.
	Template map[string]any
	Files    map[string]string
	// Parameters are the values that the stack was given, Hidden the names of those of which Heat shows no value.
	Parameters map[string]any
	Hidden     []string
	VDUs       []ForeignVDU
}

// ForeignVDU is a resource of the top-level template that makes servers: a server itself, a group, or a nested template with a server.
// ID is the name of the resource, or where the members of a group have several servers that of the server.
type ForeignVDU struct {
	ID, Type string
	Count    int
}

// FindForeign reads a stack for a package.
func FindForeign(ctx context.Context, client *openstack.Client, name string) (*Foreign, error) {
	stack, err := client.FindStack(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case stack == nil:
		return nil, fmt.Errorf("the project has no stack %s: openstack stack list shows which there are", name)
	case ownerOf(stack) != "":
		return nil, &vnfm.ConflictError{
			Object: "stack " + name, Owner: "VNF instance " + ownerOf(stack), OwnerID: ownerOf(stack), Detail: "a stack of an instance has a package already",
		}
	case !strings.HasSuffix(stack.Status, "_COMPLETE"):
		return nil, fmt.Errorf("stack %s is %s: have Heat complete it, then pack it", name, stack.Status)
	}
	content, err := client.ReadStack(ctx, stack)
	if err != nil {
		return nil, err
	}
	l := &live{stack: stack, content: content}
	if l.resources, err = client.StackResources(ctx, stack); err != nil {
		return nil, err
	}
	out := &Foreign{Name: name, At: stack.UpdatedAt.Time}
	if out.At.IsZero() {
		out.At = stack.CreatedAt.Time
	}
	if err := out.readContent(content); err != nil {
		return nil, fmt.Errorf("stack %s cannot be packed: %w", name, err)
	}
	if err := out.findVDUs(l); err != nil {
		return nil, fmt.Errorf("stack %s cannot be packed: %w", name, err)
	}
	return out, nil
}

// readContent takes templates, files and parameters over. The names that a client gave files, which are addresses on its machine, become
// names inside of the package.
func (f *Foreign) readContent(c *openstack.StackContent) error {
	names, err := fileNames(c)
	if err != nil {
		return err
	}
	f.Template, _ = renamed(c.Template, names).(map[string]any)
	f.Files, f.Parameters = make(map[string]string, len(c.Files)), map[string]any{}
	// A name can be part of a longer one.
	longest := slices.SortedFunc(maps.Keys(c.Files), func(a, b string) int { return len(b) - len(a) })
	for name, text := range c.Files {
		for _, from := range longest {
			text = strings.ReplaceAll(text, from, names[from])
		}
		f.Files[names[name]] = text
		for typ := range c.Registry {
			if typ != keyResources && strings.Contains(text, typ) {
				return fmt.Errorf("the file %s has the type %s, for which its environment has a nested template (resource_registry): name that template there first", names[name], typ)
			}
		}
	}
	declared := section(f.Template, keyParameters)
	for name, value := range c.Notes {
		if name == noteName {
			continue
		}
		if declared[name] == nil {
			return fmt.Errorf("its environment has a value of %s for nested templates (parameter_defaults): give it as a parameter of the top-level template first", name)
		}
		f.Parameters[name] = value
	}
	maps.Copy(f.Parameters, c.Parameters)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		_, given := f.Parameters[name]
		if given && hot.IsHidden(declared[name]) {
			delete(f.Parameters, name)
			f.Hidden = append(f.Hidden, name)
		}
	}
	return nil
}

// fileNames are the names inside of the package of files, and of types that the environment maps to files.
func fileNames(c *openstack.StackContent) (map[string]string, error) {
	names, taken := map[string]string{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		short := path.Base(name)
		for n := 2; taken[short]; n++ {
			ext := path.Ext(short)
			short = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path.Base(name), ext), n, ext)
		}
		names[name], taken[short] = short, true
	}
	for _, typ := range slices.Sorted(maps.Keys(c.Registry)) {
		if inner, ok := c.Registry[typ].(map[string]any); ok && len(inner) == 0 {
			continue
		}
		file, _ := c.Registry[typ].(string)
		if names[file] == "" || strings.Contains(typ, "*") {
			return nil, fmt.Errorf("its environment says what stands for the type %s (resource_registry), which is not a nested template of the stack", typ)
		}
		names[typ] = names[file]
	}
	return names, nil
}

// renamed replaces texts that are names of files.
func renamed(v any, names map[string]string) any {
	return document.Map(v, func(v any) any {
		text, ok := v.(string)
		if name, known := names[text]; ok && known {
			return name
		}
		return v
	})
}

// findVDUs finds the resources that make servers, with as many as they have made.
func (f *Foreign) findVDUs(l *live) error {
	made := map[string]int{}
	for i := range l.resources {
		if r := &l.resources[i]; r.Type == serverType {
			made[l.rootOf(r)]++
		}
	}
	resources := section(f.Template, keyResources)
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		resource, _ := resources[name].(map[string]any)
		typ, _ := resource[keyType].(string)
		member := memberOf[typ]
		servers := f.serversOf(resource, 0)
		switch {
		case len(servers) == 0:
		case len(servers) == 1:
			f.VDUs = append(f.VDUs, ForeignVDU{name, typ, made[name]})
		case member == "":
			return fmt.Errorf("its resource %s has a nested template with the servers %s, which would be one VDU: have a resource for each", name, strings.Join(servers, ", "))
		default:
			for _, server := range servers {
				f.VDUs = append(f.VDUs, ForeignVDU{server, typ, made[name] / len(servers)})
			}
		}
	}
	if len(f.VDUs) == 0 {
		return fmt.Errorf("it has no server (%s): nothing of it would be a VDU", serverType)
	}
	return nil
}

// serversOf are the names of the servers that a definition makes once; those of a definition that is a server itself have none.
func (f *Foreign) serversOf(definition map[string]any, depth int) []string {
	typ, _ := definition[keyType].(string)
	if typ == serverType {
		return []string{""}
	}
	if member, ok := section(definition, keyProperties)[memberOf[typ]].(map[string]any); ok && depth < maxNesting {
		return f.serversOf(member, depth+1)
	}
	var body map[string]any
	if f.Files[typ] == "" || depth >= maxNesting || yaml.Unmarshal([]byte(f.Files[typ]), &body) != nil {
		return nil
	}
	var out []string
	resources := section(body, keyResources)
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		inner, _ := resources[name].(map[string]any)
		for _, server := range f.serversOf(inner, depth+1) {
			if server == "" {
				server = name
			}
			out = append(out, server)
		}
	}
	return out
}
