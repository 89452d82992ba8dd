package tfutil

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// GoDuration returns the duration of an attribute; zero when it is null or unknown. The type
// of the attribute has refused everything that is not a duration.
func GoDuration(v timetypes.GoDuration) time.Duration {
	if !Set(v) {
		return 0
	}
	d, _ := v.ValueGoDuration()
	return d
}

// Instant renders a time as RFC 3339 in UTC; the zero time is null.
func Instant(t time.Time) timetypes.RFC3339 {
	if t.IsZero() {
		return timetypes.NewRFC3339Null()
	}
	return timetypes.NewRFC3339TimeValue(t.UTC())
}

// NotNegative is the rule for a limit, which the type of durations does not have.
func NotNegative() validator.String { return notNegative{} }

type notNegative struct{}

// Description implements validator.Describer.
func (notNegative) Description(context.Context) string {
	return "must be a duration such as 30s or 5m that is not negative"
}

// MarkdownDescription implements validator.Describer.
func (v notNegative) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String. It leaves what is not a duration to the type.
func (v notNegative) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !Set(req.ConfigValue) {
		return
	}
	if d, err := time.ParseDuration(req.ConfigValue.ValueString()); err == nil && d < 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Negative Duration",
			fmt.Sprintf("Attribute %s %s, got: %s.", req.Path, v.Description(ctx), req.ConfigValue.ValueString()))
	}
}
