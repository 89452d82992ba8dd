package tfutil_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/path"
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
	for text, want := range map[string][3]bool{
		"30s": {true, true, true}, "1m0.5s": {true, true, false}, "500ms": {true, true, false}, "0s": {true, false, true}, "-1s": {false, false, false},
		// It is refused by the type.
		"soon": {true, true, true},
	} {
		for i, rule := range []validator.String{tfutil.NotNegative(), tfutil.Positive(), tfutil.WholeSeconds()} {
			var resp validator.StringResponse
			rule.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("limit"), ConfigValue: types.StringValue(text)}, &resp)
			assert.Equal(t, want[i], !resp.Diagnostics.HasError(), "rule %d of %s: %v", i, text, resp.Diagnostics)
		}
	}
}
