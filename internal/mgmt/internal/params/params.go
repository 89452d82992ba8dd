// Package params reads the parameters of management drivers: objects whose attributes are checked by name and type. Problems name the
// path of the attribute.
package params

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Object is one object of parameters. For an invalid attribute its methods record a problem and return the zero value.
type Object struct {
	values   map[string]any
	path     string
	later    bool
	read     map[string]bool
	problems *vnfm.Problems
}

// Root is the object of all parameters of a driver. With later set, some values are still unknown: a missing attribute is no problem.
func Root(values map[string]any, later bool, problems *vnfm.Problems) *Object {
	return &Object{values: values, later: later, read: map[string]bool{}, problems: problems}
}

// At is the path of an attribute, "k8s_cluster_installation_param.ansible.ip_address".
func (o *Object) At(name string) string { return strings.TrimPrefix(o.path+"."+name, ".") }

// Errorf records an error about an attribute; an empty name means the object itself.
func (o *Object) Errorf(name, detail, format string, args ...any) {
	o.note(vnfm.SeverityError, name, detail, format, args...)
}

// Warnf records a warning about an attribute.
func (o *Object) Warnf(name, detail, format string, args ...any) {
	o.note(vnfm.SeverityWarning, name, detail, format, args...)
}

func (o *Object) note(severity vnfm.Severity, name, detail, format string, args ...any) {
	at := o.path
	if name != "" {
		at = o.At(name)
	}
	key, _, _ := strings.Cut(at, ".")
	*o.problems = append(*o.problems, vnfm.Problem{
		Severity: severity, Attribute: vnfm.AttributeParams, Key: key, Summary: at + " " + fmt.Sprintf(format, args...), Detail: detail,
	})
}

// Missing records a required attribute as missing.
func (o *Object) Missing(name, detail string) {
	o.read[name] = true
	if !o.later {
		//findings:says set the attribute; the detail says what it is
		o.Errorf(name, detail, "is missing")
	}
}

// Has reports whether an attribute is given.
func (o *Object) Has(name string) bool { return o.values[name] != nil }

// Later reports whether some values are still unknown.
func (o *Object) Later() bool { return o.later }

func (o *Object) value(name string) (any, bool) {
	o.read[name] = true
	v := o.values[name]
	return v, v != nil
}

// Text is a string, number or boolean as a string; empty if unset.
func (o *Object) Text(name string) string {
	v, ok := o.value(name)
	if !ok {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case bool, int64, float64, json.Number:
		return fmt.Sprint(v)
	}
	o.Errorf(name, "", "must be a string, not %s", kindOf(v))
	return ""
}

// Secret is Text, masked in all output.
func (o *Object) Secret(name string) vnfm.Secret { return vnfm.Secret(o.Text(name)) }

// Required is Text that must be set and not empty.
func (o *Object) Required(name string) string {
	text := o.Text(name)
	if text == "" && (!o.Has(name) || o.values[name] == "") {
		o.Missing(name, "")
	}
	return text
}

// Bool is a boolean, also as a string; false if unset.
func (o *Object) Bool(name string) bool {
	text := o.Text(name)
	if text == "" {
		return false
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		o.Errorf(name, "", "must be true or false")
	}
	return v
}

// Int is a whole number within bounds, also as a string; otherwise is its default.
func (o *Object) Int(name string, otherwise, low, high int) int {
	text := o.Text(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < low || v > high {
		o.Errorf(name, "", "must be a whole number between %d and %d", low, high)
		return otherwise
	}
	return v
}

// Duration is a duration above 0; otherwise is its default.
func (o *Object) Duration(name string, otherwise time.Duration) time.Duration {
	text := o.Text(name)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		o.Errorf(name, "for example 10m", "must be a duration, not %q", text)
		return otherwise
	}
	return d
}

// Texts is a list of strings. A single string is a list of one.
func (o *Object) Texts(name string) []string {
	v, ok := o.value(name)
	if !ok {
		return nil
	}
	if text, one := v.(string); one {
		return []string{text}
	}
	list, ok := v.([]any)
	if !ok {
		o.Errorf(name, "", "must be a list of strings, not %s", kindOf(v))
		return nil
	}
	var out []string
	for _, item := range list {
		if item == nil && o.later {
			continue
		}
		text, ok := item.(string)
		if !ok {
			o.Errorf(name, "", "must be a list of strings, and one item is %s", kindOf(item))
			return nil
		}
		out = append(out, text)
	}
	return out
}

// Object is an object below this one; nil if unset.
func (o *Object) Object(name string) *Object {
	v, ok := o.value(name)
	if !ok {
		return nil
	}
	below, ok := v.(map[string]any)
	if !ok {
		o.Errorf(name, "", "must be an object, not %s", kindOf(v))
		return nil
	}
	return &Object{values: below, path: o.At(name), later: o.later, read: map[string]bool{}, problems: o.problems}
}

// Needed is a required object below this one; nil if unset.
func (o *Object) Needed(name, detail string) *Object {
	if !o.Has(name) {
		o.Missing(name, detail)
	}
	return o.Object(name)
}

// Objects is a list of objects.
func (o *Object) Objects(name string) []*Object {
	v, ok := o.value(name)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		o.Errorf(name, "", "must be a list of objects, not %s", kindOf(v))
		return nil
	}
	var out []*Object
	for n := range list {
		if list[n] == nil && o.later {
			continue
		}
		at := name + "." + strconv.Itoa(n)
		below, ok := list[n].(map[string]any)
		if !ok {
			o.Errorf(at, "", "must be an object, not %s", kindOf(list[n]))
			continue
		}
		out = append(out, &Object{values: below, path: o.At(at), later: o.later, read: map[string]bool{}, problems: o.problems})
	}
	return out
}

// Names are the sorted names of all given attributes.
func (o *Object) Names() []string { return slices.Sorted(maps.Keys(o.values)) }

// Raw is an attribute without conversion.
func (o *Object) Raw(name string) any {
	v, _ := o.value(name)
	return v
}

// Done records an error for each given attribute that was not read: a mistyped name would otherwise be ignored.
func (o *Object) Done() {
	known := slices.Sorted(maps.Keys(o.read))
	for _, name := range o.Names() {
		if o.read[name] {
			continue
		}
		detail := "known here are " + strings.Join(known, ", ")
		if like := vnfm.Nearest(name, known); like != "" {
			detail = "did you mean " + strconv.Quote(like) + "? " + detail
		}
		//findings:says write the name as one of those in the detail, or remove it
		o.Errorf(name, detail, "is not known")
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	default:
		return "a number"
	}
}

// Join adds the problems that another check has found in this object, with their paths.
func (o *Object) Join(problems vnfm.Problems) {
	for _, p := range problems {
		if p.Attribute != "" {
			p.Summary = p.Attribute + ": " + p.Summary
		}
		p.Attribute = vnfm.AttributeParams
		p.Key, _, _ = strings.Cut(o.At(""), ".")
		*o.problems = append(*o.problems, p)
	}
}
