package tfutil

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// As decodes an object into its model. It returns nil for an object that is null or unknown.
func As[M any](ctx context.Context, o types.Object, diags *diag.Diagnostics) *M {
	if !Set(o) {
		return nil
	}
	var m M
	diags.Append(Into(ctx, o, &m)...)
	return &m
}

// KnownAs is As of an object in which everything is known; nil for another one.
func KnownAs[M any](ctx context.Context, o types.Object, diags *diag.Diagnostics) *M {
	if !FullyKnown(ctx, o) {
		return nil
	}
	return As[M](ctx, o, diags)
}

// ElementAs decodes an element of a map of objects. It returns nil when the element is
// absent, null or unknown.
func ElementAs[M any](ctx context.Context, all types.Map, key string, diags *diag.Diagnostics) *M {
	o, ok := all.Elements()[key].(types.Object)
	if !ok {
		return nil
	}
	return As[M](ctx, o, diags)
}

// Strings reads the elements of a list or set of strings; none is nil.
func Strings(all interface{ Elements() []attr.Value }) []string {
	var out []string
	for _, e := range all.Elements() {
		if s, ok := e.(types.String); ok {
			out = append(out, s.ValueString())
		}
	}
	return out
}

// SameButEmpty reports whether two values are equal when an empty list, set or map stands
// for null, at any depth.
func SameButEmpty(ctx context.Context, a, b attr.Value) bool {
	left, leftErr := withoutEmpty(ctx, a)
	right, rightErr := withoutEmpty(ctx, b)
	return leftErr == nil && rightErr == nil && left.Equal(right)
}

// withoutEmpty is a value in which empty collections are null.
func withoutEmpty(ctx context.Context, v attr.Value) (tftypes.Value, error) {
	raw, err := v.ToTerraformValue(ctx)
	if err != nil {
		return raw, err
	}
	return tftypes.Transform(raw, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if !v.IsKnown() || v.IsNull() || !isEmpty(v) {
			return v, nil
		}
		return tftypes.NewValue(v.Type(), nil), nil
	})
}

// isEmpty reports whether a known value is a collection without elements.
func isEmpty(v tftypes.Value) bool {
	switch v.Type().(type) {
	case tftypes.List, tftypes.Set:
		var elements []tftypes.Value
		return v.As(&elements) == nil && len(elements) == 0
	case tftypes.Map:
		var elements map[string]tftypes.Value
		return v.As(&elements) == nil && len(elements) == 0
	default:
		return false
	}
}

// Int64Pointer returns nil for a number that is null or unknown.
func Int64Pointer(n types.Int64) *int64 {
	if !Set(n) {
		return nil
	}
	return n.ValueInt64Pointer()
}
