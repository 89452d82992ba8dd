package cloud

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
)

// unknownValue is the value of a field that a patch sets and that cannot be computed here.
// It is not a string, so that no resource is looked up by it.
type unknownValue struct{}

// patchTarget is a template of a class, with its purpose and the variables for its patches.
type patchTarget struct {
	object map[string]any
	// infrastructure is set for the template of the cluster, controlPlane for the template of
	// the control plane machines; else class is the worker class of a node group.
	infrastructure, controlPlane bool
	class                        string
	// values are the variables, including the builtin variables of Cluster API.
	values map[string]any
}

// apply applies the inline patches of the class to the template.
func (p *patchTarget) apply(ctx context.Context, patches []any) {
	for _, each := range patches {
		patch, _ := each.(map[string]any)
		enabled, known := p.enabled(ctx, forms.StringAt(patch, "enabledIf"))
		if known && !enabled {
			continue
		}
		definitions, _ := patch["definitions"].([]any)
		for _, each := range definitions {
			definition, _ := each.(map[string]any)
			selector, _ := definition["selector"].(map[string]any)
			if !p.isSelected(selector) {
				continue
			}
			changes, _ := definition["jsonPatches"].([]any)
			for _, each := range changes {
				change, _ := each.(map[string]any)
				p.change(ctx, change, known)
			}
		}
	}
}

// enabled reports whether a patch is enabled, and whether this is known.
func (p *patchTarget) enabled(ctx context.Context, condition string) (enabled, known bool) {
	if condition == "" {
		return true, true
	}
	text, err := helm.Fill(ctx, condition, p.values)
	return strings.TrimSpace(text) == "true", err == nil
}

func (p *patchTarget) isSelected(selector map[string]any) bool {
	if forms.StringAt(selector, "kind") != forms.StringAt(p.object, "kind") ||
		forms.GroupOf(forms.StringAt(selector, "apiVersion")) != forms.GroupOf(forms.StringAt(p.object, "apiVersion")) {
		return false
	}
	match, _ := selector["matchResources"].(map[string]any)
	switch {
	case p.infrastructure:
		return match["infrastructureCluster"] == true
	case p.controlPlane:
		return match["controlPlane"] == true
	}
	workers, _ := match["machineDeploymentClass"].(map[string]any)
	names, _ := workers["names"].([]any)
	return slices.ContainsFunc(names, func(name any) bool {
		pattern, _ := name.(string)
		before, after, open := strings.Cut(pattern, "*")
		return pattern == p.class || (open && strings.HasPrefix(p.class, before) && strings.HasSuffix(p.class, after))
	})
}

// change applies one change of a patch. The new value of the field is unknown if the value
// cannot be computed, or if it is unknown whether the patch is enabled.
func (p *patchTarget) change(ctx context.Context, change map[string]any, known bool) {
	var value any = unknownValue{}
	if known {
		value = p.value(ctx, change)
	}
	op, path := forms.StringAt(change, "op"), strings.Split(strings.TrimPrefix(forms.StringAt(change, "path"), "/"), "/")
	for i := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
	}
	if op == "remove" && !known {
		op = "replace"
	}
	changeAt(p.object, op, path, value)
}

// value returns the new value of the field.
func (p *patchTarget) value(ctx context.Context, change map[string]any) any {
	from, computed := change["valueFrom"].(map[string]any)
	if !computed {
		return change["value"]
	}
	if path := forms.StringAt(from, "variable"); path != "" {
		if value, found := lookUp(p.values, path); found {
			return value
		}
		return unknownValue{}
	}
	text, err := helm.Fill(ctx, forms.StringAt(from, "template"), p.values)
	var value any
	if err != nil || yaml.Unmarshal([]byte(text), &value) != nil {
		return unknownValue{}
	}
	return value
}

// lookUp finds a value by a path such as "nodes[0].flavor".
func lookUp(values map[string]any, path string) (any, bool) {
	var at any = values
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		switch holder := at.(type) {
		case map[string]any:
			next, ok := holder[step]
			if !ok {
				return nil, false
			}
			at = next
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(holder) {
				return nil, false
			}
			at = holder[n]
		default:
			return nil, false
		}
	}
	return at, true
}

// changeAt applies an operation of JSON Patch (RFC 6902) in place, and returns the new value.
// It ignores an operation that does not fit the document: Cluster API rejects it.
func changeAt(at any, op string, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch holder := at.(type) {
	case map[string]any:
		switch present, ok := holder[path[0]]; {
		case len(path) == 1 && op == "remove":
			delete(holder, path[0])
		case ok || len(path) == 1:
			holder[path[0]] = changeAt(present, op, path[1:], value)
		}
		return holder
	case []any:
		n, err := strconv.Atoi(path[0])
		switch {
		case path[0] == "-" && len(path) == 1:
			return append(holder, value)
		case err != nil || n < 0 || n >= len(holder):
		case len(path) > 1 || op == "replace":
			holder[n] = changeAt(holder[n], op, path[1:], value)
		case op == "remove":
			return slices.Delete(holder, n, n+1)
		default:
			return slices.Insert(holder, n, value)
		}
		return holder
	}
	return at
}
