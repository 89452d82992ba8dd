package hot

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// The functions of HOT that name something else.
const (
	fnParam    = "get_param"
	fnAttr     = "get_attr"
	fnResource = "get_resource"
	fnFile     = "get_file"
)

// function returns the function and the argument of a value that is a call.
func function(v any) (name string, arg any) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return "", nil
	}
	for name, arg = range m {
		switch name {
		case fnParam, fnAttr, fnResource, fnFile:
			return name, arg
		}
	}
	return "", nil
}

// visit calls do for each call of a function within a value, with the way to it, which is
// that of the value and what leads from there to the call. do must not keep the way. It
// ends the visit by false.
func visit(v any, way []yamlpos.Step, do func(way []yamlpos.Step, name string, arg any) bool) bool {
	if name, arg := function(v); name != "" && !do(way, name, arg) {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sorted(v) {
			if !visit(v[key], append(way, step(key)), do) {
				return false
			}
		}
	case []any:
		for i, each := range v {
			if !visit(each, append(way, item(i)), do) {
				return false
			}
		}
	}
	return true
}

// Rewrite copies a value and replaces calls of functions by the results of change. A call
// stays if change returns false.
func Rewrite(v any, change func(name string, arg any) (any, bool)) any {
	return document.Rewrite(v, func(v any) (any, bool) {
		name, arg := function(v)
		if name == "" {
			return nil, false
		}
		return change(name, arg)
	})
}

// target is the resource or the parameter that a call names: the argument, or its
// first item.
func target(arg any) string {
	if list, ok := arg.([]any); ok && len(list) > 0 {
		return textOf(list[0])
	}
	return textOf(arg)
}

// References lists the resources that a value refers to.
func References(v any) []string {
	var names []string
	visit(v, nil, func(_ []yamlpos.Step, name string, arg any) bool {
		if (name == fnResource || name == fnAttr) && target(arg) != "" {
			names = append(names, target(arg))
		}
		return true
	})
	return names
}

// dependsOn lists the names in depends_on, which is text or a list.
func dependsOn(resource map[string]any) []string {
	switch v := resource["depends_on"].(type) {
	case string:
		return []string{v}
	case []any:
		names := make([]string, 0, len(v))
		for _, item := range v {
			names = append(names, textOf(item))
		}
		return names
	default:
		return nil
	}
}

// listOf is a list of texts as a template has it.
func listOf(texts []string) []any {
	list := make([]any, 0, len(texts))
	for _, text := range texts {
		list = append(list, text)
	}
	return list
}
