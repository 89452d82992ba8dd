package attrs

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

var (
	_ basetypes.StringTypable                    = VersionType{}
	_ basetypes.StringValuableWithSemanticEquals = Version{}
)

// VersionType is the type of string attributes with a version, for which v1.34.0 and 1.34.0
// are equal.
type VersionType struct{ basetypes.StringType }

// Version is a version as the configuration has it.
type Version struct{ basetypes.StringValue }

// NewVersion returns a version without a leading v. The empty string is null.
func NewVersion(text string) Version {
	return Version{tfutil.OptionalString(trimmed(text))}
}

// VersionUnknown returns a version that is unknown.
func VersionUnknown() Version { return Version{types.StringUnknown()} }

// Number returns the version without a leading v; empty when it is null or unknown.
func (v Version) Number() string { return trimmed(v.ValueString()) }

func trimmed(text string) string { return strings.TrimPrefix(text, "v") }

// Equal implements attr.Value.
func (v Version) Equal(other attr.Value) bool {
	o, ok := other.(Version)
	return ok && v.StringValue.Equal(o.StringValue)
}

// Type implements attr.Value.
func (Version) Type(context.Context) attr.Type { return VersionType{} }

// StringSemanticEquals implements basetypes.StringValuableWithSemanticEquals.
func (v Version) StringSemanticEquals(_ context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, ok := other.(Version)
	return ok && v.Number() == o.Number(), nil
}

// Equal implements attr.Type.
func (VersionType) Equal(other attr.Type) bool {
	_, ok := other.(VersionType)
	return ok
}

// String implements attr.Type.
func (VersionType) String() string { return "attrs.VersionType" }

// ValueType implements attr.Type.
func (VersionType) ValueType(context.Context) attr.Value { return Version{} }

// ValueFromString implements basetypes.StringTypable.
func (VersionType) ValueFromString(_ context.Context, v basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return Version{v}, nil
}

// ValueFromTerraform implements attr.Type.
func (t VersionType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, err
	}
	text, ok := v.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("a string is expected, not %T", v)
	}
	return Version{text}, nil
}

// KeepEqualVersion keeps the version of the state in the plan when the configuration writes the
// same one in the other form.
func KeepEqualVersion() planmodifier.String {
	return tfutil.KeepEqual("a leading v makes no difference", func(a, b string) bool { return trimmed(a) == trimmed(b) })
}
