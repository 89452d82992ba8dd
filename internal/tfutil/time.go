package tfutil

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Instant renders a time as RFC 3339 in UTC; the zero time is null.
func Instant(t time.Time) timetypes.RFC3339 {
	if t.IsZero() {
		return timetypes.NewRFC3339Null()
	}
	return timetypes.NewRFC3339TimeValue(t.UTC())
}

// GoDuration returns the duration of an argument, which its type has validated; zero when it is
// null or unknown.
func GoDuration(d timetypes.GoDuration) time.Duration {
	if !Set(d) {
		return 0
	}
	duration, _ := d.ValueGoDuration()
	return duration
}

// GoDurationPointer returns nil for a duration that is null or unknown.
func GoDurationPointer(d timetypes.GoDuration) *time.Duration {
	if !Set(d) {
		return nil
	}
	duration := GoDuration(d)
	return &duration
}

// NotNegative is the rule for a duration that is a limit; 0s is allowed.
func NotNegative() validator.String { return durationRule{} }

// Positive is the rule for a duration of more than 0s.
func Positive() validator.String { return durationRule{positive: true} }

// WholeSeconds is the rule for a duration that another system counts in seconds; 0s is allowed.
func WholeSeconds() validator.String { return durationRule{wholeSeconds: true} }

// PositiveSeconds is the rule for such a duration for which 0s has no meaning.
func PositiveSeconds() validator.String { return durationRule{wholeSeconds: true, positive: true} }

// durationRule validates durations. The type rejects values that are not durations.
type durationRule struct{ positive, wholeSeconds bool }

// Description implements validator.Describer.
func (r durationRule) Description(context.Context) string {
	switch {
	case r.wholeSeconds && r.positive:
		return "must be a duration of whole seconds, more than 0s"
	case r.wholeSeconds:
		return "must be a duration of whole seconds, at least 0s"
	case r.positive:
		return "must be a duration of more than 0s"
	default:
		return "must be a duration of at least 0s"
	}
}

// MarkdownDescription implements validator.Describer.
func (r durationRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

// ValidateString implements validator.String.
func (r durationRule) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !Set(req.ConfigValue) {
		return
	}
	d, err := time.ParseDuration(req.ConfigValue.ValueString())
	if err != nil || (d >= 0 && (d > 0 || !r.positive) && (d%time.Second == 0 || !r.wholeSeconds)) {
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Invalid Duration", fmt.Sprintf("%s %s, not %q.", req.Path, r.Description(ctx), req.ConfigValue.ValueString()))
}

// KeepEqualDuration keeps the duration of the state in the plan when the configuration writes the same one in another form, such
// as 60s for 1m.
func KeepEqualDuration() planmodifier.String {
	return KeepEqual("another form of the same duration makes no difference", func(a, b string) bool {
		before, err := time.ParseDuration(a)
		if err != nil {
			return false
		}
		now, err := time.ParseDuration(b)
		return err == nil && before == now
	})
}

// KeepEqual keeps the value of the state in the plan when that of the configuration is equal. The framework compares values of
// a custom type semantically only after an operation.
func KeepEqual(description string, equal func(state, plan string) bool) planmodifier.String {
	return keepEqual{description, equal}
}

type keepEqual struct {
	description string
	equal       func(state, plan string) bool
}

// Description implements planmodifier.Describer.
func (m keepEqual) Description(context.Context) string { return m.description }

// MarkdownDescription implements planmodifier.Describer.
func (m keepEqual) MarkdownDescription(context.Context) string { return m.description }

// PlanModifyString implements planmodifier.String.
func (m keepEqual) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if Set(req.StateValue) && Set(req.PlanValue) && m.equal(req.StateValue.ValueString(), req.PlanValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
