package tfutil

import (
	"context"
	"reflect"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Models are read and written in each call of Terraform's, and the framework does so field by field: it compiles a regular expression for the tag
// of each, and makes all values twice when it writes. Here the fields of a model are known after the first time. What does not fit is left to the
// framework, which says why.

// Read reads a configuration, plan or state into a model, as the method Get of each does.
func Read[D tfsdk.Config | tfsdk.Plan | tfsdk.State](ctx context.Context, from D, model any) diag.Diagnostics {
	data := tfsdk.State(from)
	if diags, ok := read(ctx, data, model); ok {
		return diags
	}
	return data.Get(ctx, model)
}

func read(ctx context.Context, data tfsdk.State, model any) (diags diag.Diagnostics, ok bool) {
	target := reflect.ValueOf(model).Elem()
	fields := fieldsOf(target.Type())
	var raw map[string]tftypes.Value
	if fields == nil || data.Raw.IsNull() || data.Raw.As(&raw) != nil || len(raw) != len(fields) {
		return nil, false
	}
	attributes := data.Schema.GetAttributes()
	out := reflect.New(target.Type()).Elem()
	for name, index := range fields {
		attribute, ok := attributes[name]
		if !ok {
			return nil, false
		}
		v, err := attribute.GetType().ValueFromTerraform(ctx, raw[name])
		field := out.FieldByIndex(index)
		if err != nil || reflect.TypeOf(v) != field.Type() {
			return nil, false
		}
		if diags.Append(validated(ctx, v, name)...); diags.HasError() {
			return diags, true
		}
		field.Set(reflect.ValueOf(v))
	}
	target.Set(out)
	return diags, true
}

// Write writes a model as a plan or state, as the method Set of each does.
func Write[D tfsdk.Plan | tfsdk.State](ctx context.Context, to *D, model any) diag.Diagnostics {
	data := tfsdk.State(*to)
	diags, ok := write(ctx, &data, model)
	if !ok {
		diags = data.Set(ctx, model)
	}
	*to = D(data)
	return diags
}

func write(ctx context.Context, data *tfsdk.State, model any) (diags diag.Diagnostics, ok bool) {
	source := reflect.Indirect(reflect.ValueOf(model))
	fields := fieldsOf(source.Type())
	if fields == nil {
		return nil, false
	}
	values := make(map[string]tftypes.Value, len(fields))
	for name, index := range fields {
		v, _ := source.FieldByIndex(index).Interface().(attr.Value)
		if diags.Append(validated(ctx, v, name)...); diags.HasError() {
			return diags, true
		}
		raw, err := v.ToTerraformValue(ctx)
		if err != nil {
			return nil, false
		}
		values[name] = raw
	}
	typ := data.Schema.Type().TerraformType(ctx)
	if tftypes.ValidateValue(typ, values) != nil {
		return nil, false
	}
	data.Raw = tftypes.NewValue(typ, values)
	return diags, true
}

// Into reads an object into a model, as its method As does.
func Into(ctx context.Context, o types.Object, model any) diag.Diagnostics {
	target := reflect.ValueOf(model).Elem()
	fields, values := fieldsOf(target.Type()), o.Attributes()
	if fields == nil || len(values) != len(fields) {
		return o.As(ctx, model, basetypes.ObjectAsOptions{})
	}
	out := reflect.New(target.Type()).Elem()
	for name, index := range fields {
		field, v := out.FieldByIndex(index), values[name]
		if reflect.TypeOf(v) != field.Type() {
			return o.As(ctx, model, basetypes.ObjectAsOptions{})
		}
		field.Set(reflect.ValueOf(v))
	}
	target.Set(out)
	return nil
}

// validated is what a value says of itself that has a form, such as a duration.
func validated(ctx context.Context, v attr.Value, name string) diag.Diagnostics {
	formed, ok := v.(xattr.ValidateableAttribute)
	if !ok {
		return nil
	}
	var resp xattr.ValidateAttributeResponse
	formed.ValidateAttribute(ctx, xattr.ValidateAttributeRequest{Path: path.Root(name)}, &resp)
	return resp.Diagnostics
}

// knownFields are the fields of models, by their types.
var knownFields sync.Map

// fieldsOf are the places of the fields of a model by the names of their attributes; nil unless it is a struct whose fields all are values
// of the framework.
func fieldsOf(model reflect.Type) map[string][]int {
	if known, ok := knownFields.Load(model); ok {
		return known.(map[string][]int) //nolint:forcetypeassert // Nothing else is stored.
	}
	var fields map[string][]int
	if model.Kind() == reflect.Struct {
		fields = tagged(model)
	}
	knownFields.Store(model, fields)
	return fields
}

func tagged(model reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(model) {
		name, ok := f.Tag.Lookup("tfsdk")
		switch {
		case f.Anonymous && !ok && f.Type.Kind() == reflect.Struct, !f.Anonymous && (!f.IsExported() || name == "-"):
			continue
		case f.Anonymous, !ok, fields[name] != nil, !f.Type.Implements(reflect.TypeFor[attr.Value]()):
			return nil
		}
		fields[name] = f.Index
	}
	return fields
}
