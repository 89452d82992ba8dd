package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// checkTypes compares an object of a built-in kind with its Go type in client-go; of other kinds only the metadata. The API server
// rejects values of a wrong type, so they are errors. Unknown and missing fields are warnings, because they depend on the version
// of Kubernetes.
func checkTypes(m *manifest, gvk schema.GroupVersionKind, ps *vnfm.Problems) vnfm.Problems {
	c := typeCheck{manifest: m, gvk: gvk, secret: gvk.Group == "" && gvk.Kind == "Secret"}
	goType, known := scheme.Scheme.AllKnownTypes()[gvk]
	if !known {
		c.warnUnknownKind()
		goType, c.partial = reflect.TypeFor[metav1.PartialObjectMetadata](), true
	}
	c.object(goType, m.Content, nil)
	sortByPlace(c.errors)
	sortByPlace(c.warnings)
	*ps = append(*ps, c.errors...)
	return c.warnings
}

func sortByPlace(ps vnfm.Problems) {
	slices.SortFunc(ps, func(a, b vnfm.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Summary, b.Summary))
	})
}

// typeCheck is the check of one object.
type typeCheck struct {
	manifest         *manifest
	gvk              schema.GroupVersionKind
	errors, warnings vnfm.Problems
	// partial is set when only the metadata of the object has a known type.
	partial bool
	// secret is set when no problem may show a value.
	secret bool
}

func (c *typeCheck) warnUnknownKind() {
	kinds := scheme.Scheme.KnownTypes(c.gvk.GroupVersion())
	if len(kinds) == 0 {
		return
	}
	c.warn([]yamlpos.Step{{Key: "kind"}}, fmt.Sprintf("Kubernetes has no kind %q in %s", c.gvk.Kind, c.gvk.GroupVersion()),
		didYouMean(c.gvk.Kind, maps.Keys(kinds), "check apiVersion and kind"))
}

// didYouMean suggests a similar name, or the given remedy if there is none.
func didYouMean(name string, names iter.Seq[string], otherwise string) string {
	if like := vnfm.Nearest(name, slices.Sorted(names)); like != "" {
		return fmt.Sprintf("did you mean %q?", like)
	}
	return otherwise
}

// problem returns a problem at the end of a path.
func (c *typeCheck) problem(severity vnfm.Severity, at []yamlpos.Step, summary, detail string) vnfm.Problem {
	n := c.manifest.ValueAt(at...)
	return vnfm.Problem{Severity: severity, File: c.manifest.File, Line: n.Line, Column: n.Column, Summary: summary, Detail: detail}
}

func (c *typeCheck) warn(at []yamlpos.Step, summary, detail string) {
	c.warnings = append(c.warnings, c.problem(vnfm.SeverityWarning, at, summary, detail))
}

// refuse reports a value of the wrong type.
func (c *typeCheck) refuse(at []yamlpos.Step, want string, value any) {
	detail := ""
	if want == "a string" {
		detail = c.quoted(at, value)
	}
	//findings:says write a value of that type; a string in quotes
	c.errors = append(c.errors, c.problem(vnfm.SeverityError, at, fmt.Sprintf("%s must be %s, not %s", fieldPath(at), want, typeName(value)), detail))
}

// quoted explains how to write a scalar as a string. It shows no value of a Secret or of a rendered template, whose values may be
// secrets.
func (c *typeCheck) quoted(at []yamlpos.Step, value any) string {
	switch value.(type) {
	case map[string]any, []any:
		return ""
	}
	n := c.manifest.ValueAt(at...)
	switch {
	case c.secret:
		return "put it in quotes"
	case n.Kind == yaml.ScalarNode && n.Line > 0 && n.Value != "":
		return "write " + strconv.Quote(n.Value)
	default:
		return "put it in quotes: in a template of a chart, {{ … | quote }}"
	}
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

func (c *typeCheck) value(t reflect.Type, v any, at []yamlpos.Step) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v == nil {
		return // The API server takes null as not set.
	}
	if reflect.PointerTo(t).Implements(unmarshalerType) {
		c.unmarshal(t, v, at)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if fields, ok := v.(map[string]any); ok {
			c.object(t, fields, at)
			return
		}
		c.refuse(at, "a mapping", v)
	case reflect.Map:
		entries, ok := v.(map[string]any)
		if !ok {
			c.refuse(at, "a mapping", v)
		}
		for name, entry := range entries {
			c.value(t.Elem(), entry, step(at, yamlpos.Step{Key: name}))
		}
	case reflect.Slice:
		c.list(t, v, at)
	default:
		if want := scalarType(t.Kind(), v); want != "" {
			c.refuse(at, want, v)
		}
	}
}

func (c *typeCheck) list(t reflect.Type, v any, at []yamlpos.Step) {
	if t.Elem().Kind() == reflect.Uint8 {
		if _, ok := v.(string); !ok {
			c.refuse(at, "a string", v)
		}
		return
	}
	items, ok := v.([]any)
	if !ok {
		c.refuse(at, "a list", v)
	}
	for i, item := range items {
		c.value(t.Elem(), item, step(at, yamlpos.Step{Index: i}))
	}
}

// unmarshal checks a value whose type implements json.Unmarshaler, for example a quantity.
func (c *typeCheck) unmarshal(t reflect.Type, v any, at []yamlpos.Step) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, reflect.New(t).Interface())
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &wrong) && wrong.Type.Kind() == reflect.String:
		c.refuse(at, "a string", v)
	case errors.As(err, &wrong):
		c.refuse(at, "a whole number or a string", v)
	default:
		//findings:says correct the value
		c.errors = append(c.errors, c.problem(vnfm.SeverityError, at, fmt.Sprintf("%s is not valid: %v", fieldPath(at), err), ""))
	}
}

// scalarType returns the required type of a scalar, empty if the scalar has that type.
func scalarType(kind reflect.Kind, v any) string {
	ok := false
	switch kind { //nolint:exhaustive // the API has no other scalars
	case reflect.String:
		if _, ok = v.(string); !ok {
			return "a string"
		}
	case reflect.Bool:
		if _, ok = v.(bool); !ok {
			return "true or false"
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if f, isFloat := v.(float64); isFloat {
			ok = f == math.Trunc(f)
		} else {
			_, ok = v.(int64)
		}
		if !ok {
			return "a whole number"
		}
	}
	return ""
}

func (c *typeCheck) object(t reflect.Type, fields map[string]any, at []yamlpos.Step) {
	known := fieldsOf(t)
	for name, value := range fields {
		at, goType := step(at, yamlpos.Step{Key: name}), known.types[name]
		switch {
		case len(at) == 1 && name == "status":
			// renderObject removes the status.
		case goType != nil:
			c.value(goType, value, at)
			if keys := known.keys[name]; keys != nil {
				fields[name] = c.unique(keys, value, at)
			}
		case !c.partial:
			c.warn(at, fieldPath(at)+" is not a field of "+c.gvk.Kind, didYouMean(name, maps.Keys(known.types), "check its name and place"))
		}
	}
	for _, name := range known.required {
		if _, present := fields[name]; !present && !c.partial {
			c.warn(at, fieldPath(step(at, yamlpos.Step{Key: name}))+" is missing", c.gvk.Kind+" requires it")
		}
	}
}

// apiFields are the fields of an API type by their names in JSON.
type apiFields struct {
	types    map[string]reflect.Type
	required []string
	// keys identify the entries of a list, see listKeys.
	keys map[string][]string
}

// optional are the names of fields that the API does not require, although client-go always writes them.
var optional = []string{
	"apiGroup", "audiences", "devices", "endpoints", "handSize", "matchingPrecedence", "namespaces", "podSelector", "ports", "queueLengthLimit",
	"queues", "reportingComponent", "reportingInstance", "requests", "revision", "rules", "serviceName", "sources", "spec", "start", "status", "value",
}

// isRequired reports whether the API requires a field: Kubernetes' types omit empty fields only if they are optional.
func isRequired(f reflect.StructField, name, options string) bool {
	return !strings.Contains(options, "omit") && f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Bool && !slices.Contains(optional, name)
}

var fieldsByType sync.Map

func fieldsOf(t reflect.Type) *apiFields {
	if known, ok := fieldsByType.Load(t); ok {
		return known.(*apiFields) //nolint:forcetypeassert // nothing else is stored
	}
	out := &apiFields{types: make(map[string]reflect.Type, t.NumField()), keys: map[string][]string{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && f.Anonymous:
			inner := fieldsOf(f.Type)
			maps.Copy(out.types, inner.types)
			maps.Copy(out.keys, inner.keys)
			out.required = append(out.required, inner.required...)
		case name != "":
			out.types[name] = f.Type
			if keys := listKeys(f); keys != nil {
				out.keys[name] = keys
			}
			if isRequired(f, name, options) {
				out.required = append(out.required, name)
			}
		}
	}
	fieldsByType.Store(t, out)
	return out
}

// step returns a path with one more step and leaves the given path unchanged.
func step(at []yamlpos.Step, next yamlpos.Step) []yamlpos.Step {
	return append(at[:len(at):len(at)], next)
}

// fieldPath writes a path like kubectl: spec.containers[0].image.
func fieldPath(at []yamlpos.Step) string {
	var b strings.Builder
	for _, s := range at {
		switch {
		case s.Key == "":
			fmt.Fprintf(&b, "[%d]", s.Index)
		case strings.ContainsAny(s.Key, "./"):
			fmt.Fprintf(&b, "[%s]", strconv.Quote(s.Key))
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Key)
		}
	}
	return b.String()
}
