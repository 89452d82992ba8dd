package tfutil

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// As decodes an object into its model. It returns nil for an object that is null or unknown.
func As[M any](ctx context.Context, o types.Object, diags *diag.Diagnostics) *M {
	if !Set(o) {
		return nil
	}
	var m M
	diags.Append(o.As(ctx, &m, basetypes.ObjectAsOptions{})...)
	return &m
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

// Int64Pointer returns nil for a number that is null or unknown.
func Int64Pointer(n types.Int64) *int64 {
	if !Set(n) {
		return nil
	}
	return n.ValueInt64Pointer()
}
