package tfutil

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/helpers/validatordiag"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// goDuration is stricter than time.ParseDuration: no sign and no unit below milliseconds.
var goDuration = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

var (
	_ basetypes.StringTypable     = DurationType{}
	_ basetypes.StringValuable    = Duration{}
	_ xattr.ValidateableAttribute = Duration{}
)

// DurationType is the type of string attributes that hold a duration such as 30s.
type DurationType struct{ basetypes.StringType }

// Duration is a duration attribute. It is parsed when the value is made.
type Duration struct {
	basetypes.StringValue
	duration time.Duration
	invalid  bool
}

// Duration returns the duration; zero when the value is null or unknown.
func (d Duration) Duration() time.Duration { return d.duration }

// Equal implements attr.Value.
func (d Duration) Equal(other attr.Value) bool {
	o, ok := other.(Duration)
	return ok && d.StringValue.Equal(o.StringValue)
}

// Type implements attr.Value.
func (Duration) Type(context.Context) attr.Type { return DurationType{} }

// ValidateAttribute implements xattr.ValidateableAttribute.
func (d Duration) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	if d.invalid {
		resp.Diagnostics.Append(validatordiag.InvalidAttributeValueMatchDiagnostic(req.Path, "must be a duration such as 30s or 5m", d.ValueString()))
	}
}

// Equal implements attr.Type.
func (DurationType) Equal(other attr.Type) bool {
	_, ok := other.(DurationType)
	return ok
}

// String implements attr.Type.
func (DurationType) String() string { return "tfutil.DurationType" }

// ValueType implements attr.Type.
func (DurationType) ValueType(context.Context) attr.Value { return Duration{} }

// ValueFromString implements basetypes.StringTypable.
func (DurationType) ValueFromString(_ context.Context, v basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	d := Duration{StringValue: v}
	if Set(v) {
		var err error
		d.duration, err = time.ParseDuration(v.ValueString())
		d.invalid = err != nil || !goDuration.MatchString(v.ValueString())
	}
	return d, nil
}

// ValueFromTerraform implements attr.Type.
func (t DurationType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, err
	}
	text, ok := v.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("a string is expected, not %T", v)
	}
	d, _ := t.ValueFromString(ctx, text)
	return d, nil
}
