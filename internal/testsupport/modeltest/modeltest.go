// Package modeltest proves that conversions between Terraform's models and domain types
// forget nothing. A value with every field set is converted; then each field alone is
// changed, and the result must change as well.
package modeltest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Schema returns the schema of a resource.
func Schema(t *testing.T, r resource.Resource) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	r.Schema(t.Context(), resource.SchemaRequest{}, &resp)
	if resp.Diagnostics.HasError() {
		t.Fatalf("schema: %v", resp.Diagnostics)
	}
	return resp.Schema
}

// Arguments are the values of the attributes of a resource.
type Arguments struct {
	schema schema.Schema
	raw    tftypes.Value
}

// Full returns arguments with every attribute of the schema set, at every depth: maps, lists
// and sets have one element, dynamic values are an object, and each text and number is another
// one. Attributes in set, by paths such as node_groups.key.taints, have the value that is given
// there; nil is null.
func Full(t *testing.T, r resource.Resource, set map[string]any) Arguments {
	t.Helper()
	f, s := &filler{set: set}, Schema(t, r)
	return Arguments{schema: s, raw: f.value("", s.Type().TerraformType(t.Context()))}
}

type filler struct {
	set  map[string]any
	next int
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func (f *filler) value(path string, t tftypes.Type) tftypes.Value {
	if v, ok := f.set[path]; ok {
		return tftypes.NewValue(t, v)
	}
	f.next++
	switch t := t.(type) {
	case tftypes.Object:
		values := map[string]tftypes.Value{}
		for _, name := range slices.Sorted(maps.Keys(t.AttributeTypes)) {
			values[name] = f.value(join(path, name), t.AttributeTypes[name])
		}
		return tftypes.NewValue(t, values)
	case tftypes.Map:
		return tftypes.NewValue(t, map[string]tftypes.Value{"key": f.value(join(path, "key"), t.ElementType)})
	case tftypes.List:
		return tftypes.NewValue(t, []tftypes.Value{f.value(join(path, "0"), t.ElementType)})
	case tftypes.Set:
		return tftypes.NewValue(t, []tftypes.Value{f.value(join(path, "0"), t.ElementType)})
	}
	switch {
	case t.Is(tftypes.String):
		return tftypes.NewValue(t, fmt.Sprintf("text%d", f.next))
	case t.Is(tftypes.Bool):
		return tftypes.NewValue(t, true)
	case t.Is(tftypes.Number):
		return tftypes.NewValue(t, int64(f.next))
	default:
		return tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"key": tftypes.String}},
			map[string]tftypes.Value{"key": tftypes.NewValue(tftypes.String, fmt.Sprintf("text%d", f.next))})
	}
}

// Decode reads the arguments into a model.
func Decode[M any](t *testing.T, a Arguments) *M {
	t.Helper()
	var m M
	if diags := (tfsdk.Plan{Raw: a.raw, Schema: a.schema}).Get(t.Context(), &m); diags.HasError() {
		t.Fatalf("decode: %v", diags)
	}
	return &m
}

// EachArgument changes each argument alone and demands that the result of convert changes
// or its diagnostics change with it. Arguments at or below the paths of ignored are those that convert does not read;
// it is an error when one of them makes a difference.
func EachArgument[M any](t *testing.T, a Arguments, ignored []string, convert func(*M, *diag.Diagnostics) any) {
	t.Helper()
	read := func(a Arguments) any {
		var diags diag.Diagnostics
		got := convert(Decode[M](t, a), &diags)
		return []any{got, diags}
	}
	before, used := read(a), map[string]bool{}
	err := tftypes.Walk(a.raw, func(at *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		other, ok := another(v)
		if !ok {
			return true, nil
		}
		changed, err := tftypes.Transform(a.raw, func(here *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			if here.Equal(at) {
				return other, nil
			}
			return v, nil
		})
		if err != nil {
			return false, err
		}
		path := pathOf(at)
		ignore := slices.IndexFunc(ignored, func(i string) bool { return path == i || strings.HasPrefix(path, i+".") })
		same := reflect.DeepEqual(before, read(Arguments{a.schema, changed}))
		switch {
		case ignore >= 0 && !same:
			t.Errorf("%s is read", path)
		case ignore >= 0:
			used[ignored[ignore]] = true
		case same:
			t.Errorf("%s is not read", path)
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range ignored {
		if !used[i] {
			t.Errorf("there is no argument %s", i)
		}
	}
}

// another returns another value of the type of a leaf.
func another(v tftypes.Value) (tftypes.Value, bool) {
	switch t := v.Type(); {
	case !v.IsKnown() || v.IsNull():
		return v, false
	case t.Is(tftypes.String):
		var text string
		if v.As(&text) != nil {
			return v, false
		}
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return tftypes.NewValue(t, at.Add(time.Hour).Format(time.RFC3339)), true
		}
		// A duration stays a duration, and JSON stays JSON.
		return tftypes.NewValue(t, "1"+text), true
	case t.Is(tftypes.Bool):
		var on bool
		if v.As(&on) != nil {
			return v, false
		}
		return tftypes.NewValue(t, !on), true
	case t.Is(tftypes.Number):
		return tftypes.NewValue(t, int64(1<<20)), true
	default:
		return v, false
	}
}

func pathOf(at *tftypes.AttributePath) string {
	var path string
	for _, step := range at.Steps() {
		switch step := step.(type) {
		case tftypes.AttributeName:
			path = join(path, string(step))
		case tftypes.ElementKeyString:
			path = join(path, string(step))
		default:
			path = join(path, "0")
		}
	}
	return path
}

// EachField fills every field of a domain value, changes each alone and demands that the
// result of convert changes with it. Fields at or below the paths of ignored, such as
// Status or VDUs.key.Kind, are those that convert does not read.
func EachField[D any](t *testing.T, ignored []string, convert func(D) any) {
	t.Helper()
	full := func(change int) (D, []string) {
		var d D
		g := &goFiller{change: change}
		g.fill("", reflect.ValueOf(&d).Elem())
		return d, g.paths
	}
	d, paths := full(-1)
	before, used := convert(d), map[string]bool{}
	for i, path := range paths {
		changed, _ := full(i)
		ignore := slices.IndexFunc(ignored, func(i string) bool { return path == i || strings.HasPrefix(path, i+".") })
		same := reflect.DeepEqual(before, convert(changed))
		switch {
		case ignore >= 0 && !same:
			t.Errorf("%s is read", path)
		case ignore >= 0:
			used[ignored[ignore]] = true
		case same:
			t.Errorf("%s is not read", path)
		}
	}
	for _, i := range ignored {
		if !used[i] {
			t.Errorf("there is no field %s", i)
		}
	}
}

// Filled returns a domain value with every field set.
func Filled[D any]() D {
	var d D
	(&goFiller{change: -1}).fill("", reflect.ValueOf(&d).Elem())
	return d
}

// goFiller fills Go values; the leaf of number change has another value.
type goFiller struct {
	change int
	paths  []string
	inside []reflect.Type
}

func (g *goFiller) leaf(path string) (n int64) {
	n = int64(len(g.paths)) + 1
	if len(g.paths) == g.change {
		n += 1 << 20
	}
	g.paths = append(g.paths, path)
	return n
}

func (g *goFiller) fill(path string, v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(g.leaf(path), 0).UTC()))
		return
	}
	switch v.Kind() { //nolint:exhaustive // the default refuses the others
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				g.fill(join(path, v.Type().Field(i).Name), v.Field(i))
			}
		}
	case reflect.Pointer:
		// A type that holds itself does so once.
		if slices.Contains(g.inside, v.Type()) {
			return
		}
		g.inside = append(g.inside, v.Type())
		v.Set(reflect.New(v.Type().Elem()))
		g.fill(path, v.Elem())
		g.inside = g.inside[:len(g.inside)-1]
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		g.fill(join(path, "0"), v.Index(0))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		g.fill(join(path, "key"), element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), element)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			return
		}
		v.Set(reflect.ValueOf(fmt.Sprintf("text%d", g.leaf(path))))
	case reflect.Func:
		// It is no data.
	case reflect.String:
		v.SetString(fmt.Sprintf("text%d", g.leaf(path)))
	case reflect.Bool:
		v.SetBool(g.leaf(path) < 1<<20)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(g.leaf(path))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(g.leaf(path)))
	case reflect.Uint8:
		if v.SetUint(1); g.leaf(path) >= 1<<20 {
			v.SetUint(2)
		}
	default:
		panic(fmt.Sprintf("%s is of kind %s, which is not filled", path, v.Kind()))
	}
}

// NothingNull demands that no attribute of a model is null, at any depth.
func NothingNull(t *testing.T, model any) {
	t.Helper()
	v := reflect.ValueOf(model)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		value, ok := v.Field(i).Interface().(attr.Value)
		if !ok {
			t.Fatalf("%s is no attribute", name)
		}
		raw, err := value.ToTerraformValue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = tftypes.Walk(raw, func(at *tftypes.AttributePath, v tftypes.Value) (bool, error) {
			if v.IsNull() {
				t.Errorf("%s is null", join(name, pathOf(at)))
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
