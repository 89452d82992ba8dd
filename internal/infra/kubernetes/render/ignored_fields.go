package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// paramIgnore maps objects to fields that are not applied because a controller sets them.
	paramIgnore = "ignore_fields"
	// annotationIgnore lists such fields of its own object, separated by spaces.
	annotationIgnore = vnfm.LabelPrefix + "ignore-fields"
)

// identityFields cannot be left out of an object.
var identityFields = []string{"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace"}

// readIgnored returns the fields to ignore, by the keys of their objects.
func readIgnored(value any, ps *vnfm.Problems) map[string][]string {
	objects, ok := value.(map[string]any)
	if !ok {
		badParam(ps, paramIgnore, "must be a map of objects to lists of fields", notMap(value))
		return nil
	}
	out := make(map[string][]string, len(objects))
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		fields, ok := stringList(objects[key])
		if !ok {
			badParam(ps, paramIgnore, "must be a map of objects to lists of fields", fmt.Sprintf("%q has %s", key, typeName(objects[key])))
			continue
		}
		if field := slices.IndexFunc(fields, isIdentity); field >= 0 {
			badParam(ps, paramIgnore, "names a field that every object needs", fmt.Sprintf("%s of %q", fields[field], key))
			continue
		}
		out[key] = fields
	}
	return out
}

func isIdentity(field string) bool { return slices.Contains(identityFields, field) }

// dropIgnored removes the ignored fields from the objects.
func (r *Rendering) dropIgnored(ignored map[string][]string, ps *vnfm.Problems) {
	for _, key := range slices.Sorted(maps.Keys(ignored)) {
		i := slices.IndexFunc(r.Objects, func(o *Object) bool { return o.Key == key })
		if i < 0 && r.namesLater {
			continue // It may be an object whose name is not known yet.
		}
		if i < 0 {
			//findings:says an object is named as in changes of a plan, for example "apps/v1/Deployment web"
			badParam(ps, paramIgnore, "names an object that the instance does not have", fmt.Sprintf("%q; an object is named as in changes of a plan, for example \"apps/v1/Deployment web\"", key))
			continue
		}
		for _, field := range ignored[key] {
			if !dropField(r.Objects[i].Content, field) {
				*ps = append(*ps, vnfm.Problem{
					Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeParams, Key: paramIgnore,
					Summary: fmt.Sprintf("%s has no field %q to ignore", key, field),
					Detail:  "a field is written as in changes of a plan, for example spec.template.spec.containers[web].image",
				})
			}
		}
	}
}

// dropAnnotated removes the fields in the annotation annotationIgnore of an object.
func dropAnnotated(content, meta map[string]any, refuse func([]string, string, ...any)) {
	annotations, _ := meta["annotations"].(map[string]any)
	text, _ := annotations[annotationIgnore].(string)
	for _, field := range strings.Fields(text) {
		if isIdentity(field) {
			refuse([]string{"metadata", "annotations", annotationIgnore}, "%s names %s, a field that every object needs", annotationIgnore, field)
			continue
		}
		dropField(content, field)
	}
}

// dropField removes the field at a path and reports whether it existed. A path consists of field names separated by dots; a name
// may also be written ["name"]. A list entry is selected by its name, its key (containerPort=80), its index or *.
func dropField(value any, path string) (dropped bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			rest, leads := below(path, name)
			switch {
			case !leads:
			case rest == "":
				delete(value, name)
				dropped = true
			case dropField(field, rest):
				dropped = true
			}
		}
	case []any:
		inBrackets, opens := strings.CutPrefix(path, "[")
		selector, rest, closes := strings.Cut(inBrackets, "]")
		for i, item := range value {
			if opens && closes && rest != "" && selects(selector, i, item) && dropField(item, rest) {
				dropped = true
			}
		}
	}
	return dropped
}

// below returns the rest of a path after the name of a field; leads is false if the path does not begin with the name.
func below(path, name string) (rest string, leads bool) {
	path = strings.TrimPrefix(path, ".")
	for _, form := range []string{name, "[" + strconv.Quote(name) + "]"} {
		if rest, ok := strings.CutPrefix(path, form); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return rest, true
		}
	}
	return "", false
}

// selects reports whether a selector, the text in brackets, matches a list entry.
func selects(selector string, index int, item any) bool {
	entry, _ := item.(map[string]any)
	if selector == "*" || selector == strconv.Itoa(index) || entry["name"] == selector {
		return true
	}
	for _, pair := range strings.Split(selector, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || fmt.Sprint(entry[key]) != value {
			return false
		}
	}
	return true
}
