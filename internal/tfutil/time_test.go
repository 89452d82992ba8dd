package tfutil_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

func TestInstant(t *testing.T) {
	t.Parallel()
	assert.True(t, tfutil.Instant(time.Time{}).IsNull())
	assert.Equal(t, "2026-01-02T02:04:05Z", tfutil.Instant(time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))).ValueString())
}

func TestGoDuration(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 90*time.Minute, tfutil.GoDuration(timetypes.NewGoDurationValueFromStringMust("1h30m")))
	assert.Zero(t, tfutil.GoDuration(timetypes.NewGoDurationUnknown()))
	assert.Nil(t, tfutil.GoDurationPointer(timetypes.NewGoDurationNull()))
	assert.Equal(t, time.Duration(0), *tfutil.GoDurationPointer(timetypes.NewGoDurationValueFromStringMust("0s")))
}

// TestDurationRules: what is accepted by the rules for a limit, for more than nothing, and for seconds.
func TestDurationRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][4]bool{
		"30s": {true, true, true, true}, "1m0.5s": {true, true, false, false}, "500ms": {true, true, false, false}, "0s": {true, false, true, false}, "-1s": {},
		// The type rejects it.
		"soon": {true, true, true, true},
	} {
		for i, rule := range []validator.String{tfutil.NotNegative(), tfutil.Positive(), tfutil.WholeSeconds(), tfutil.PositiveSeconds()} {
			var resp validator.StringResponse
			rule.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("limit"), ConfigValue: types.StringValue(text)}, &resp)
			assert.Equal(t, want[i], !resp.Diagnostics.HasError(), "rule %d of %s: %v", i, text, resp.Diagnostics)
		}
	}
}

// TestKeepEqualDuration: another form of the duration that the state has is not a change.
func TestKeepEqualDuration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ state, plan, want string }{
		{"60s", "1m", "60s"}, {"60s", "61s", "61s"}, {"soon", "1m", "1m"}, {"60s", "soon", "soon"},
	} {
		req := planmodifier.StringRequest{StateValue: types.StringValue(c.state), PlanValue: types.StringValue(c.plan)}
		resp := planmodifier.StringResponse{PlanValue: req.PlanValue}
		tfutil.KeepEqualDuration().PlanModifyString(t.Context(), req, &resp)
		assert.Equal(t, c.want, resp.PlanValue.ValueString())
	}
	req := planmodifier.StringRequest{StateValue: types.StringNull(), PlanValue: types.StringValue("1m")}
	resp := planmodifier.StringResponse{PlanValue: req.PlanValue}
	tfutil.KeepEqualDuration().PlanModifyString(t.Context(), req, &resp)
	assert.Equal(t, "1m", resp.PlanValue.ValueString())
}
