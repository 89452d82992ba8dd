package tfutil

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// LongSet is a set of texts that may be many. Of another set the framework asks whether an element is in it twice, each time that it reads or writes
// the value, and whether an element means the same as one of the former set, whenever a state is written: both take time by the square of their
// number.
type LongSet struct{ types.Set }

// NewLongSet returns a set of texts.
func NewLongSet(texts []string) LongSet { return LongSet{StringSet(texts)} }

// Type implements attr.Value.
func (s LongSet) Type(ctx context.Context) attr.Type {
	return LongSetType{types.SetType{ElemType: s.ElementType(ctx)}}
}

// Equal implements attr.Value.
func (s LongSet) Equal(o attr.Value) bool {
	other, ok := o.(LongSet)
	return ok && s.Set.Equal(other.Set)
}

// ValidateAttribute implements xattr.ValidateableAttribute. A set of Terraform's has no element twice, and NewLongSet makes none.
func (LongSet) ValidateAttribute(context.Context, xattr.ValidateAttributeRequest, *xattr.ValidateAttributeResponse) {
}

// SetSemanticEquals implements basetypes.SetValuableWithSemanticEquals.
func (s LongSet) SetSemanticEquals(_ context.Context, former basetypes.SetValuable) (bool, diag.Diagnostics) {
	return s.Equal(former), nil
}

// LongSetType is the type of LongSet.
type LongSetType struct{ types.SetType }

// Equal implements attr.Type.
func (t LongSetType) Equal(o attr.Type) bool {
	other, ok := o.(LongSetType)
	return ok && t.SetType.Equal(other.SetType)
}

// ValueFromSet implements basetypes.SetTypable.
func (t LongSetType) ValueFromSet(_ context.Context, set types.Set) (basetypes.SetValuable, diag.Diagnostics) {
	return LongSet{set}, nil
}

// ValueFromTerraform implements attr.Type.
func (t LongSetType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := t.SetType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, err
	}
	set, _ := v.(types.Set)
	return LongSet{set}, nil
}

// ValueType implements attr.Type.
func (t LongSetType) ValueType(context.Context) attr.Value { return LongSet{} }
