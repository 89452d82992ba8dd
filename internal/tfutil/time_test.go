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

// TestGoDuration: a duration is read as it is, and absent ones are zero.
func TestGoDuration(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 90*time.Minute, tfutil.GoDuration(timetypes.NewGoDurationValueFromStringMust("1h30m")))
	assert.Zero(t, tfutil.GoDuration(timetypes.NewGoDurationNull()))
	assert.Zero(t, tfutil.GoDuration(timetypes.NewGoDurationUnknown()))
}

// TestInstant: instants are in UTC, and the zero time is null.
func TestInstant(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("east", 3600))
	assert.Equal(t, "2026-01-02T02:04:05Z", tfutil.Instant(at).ValueString())
	assert.True(t, tfutil.Instant(time.Time{}).IsNull())
}

// TestNotNegative: limits are not negative; what is not a duration is left to its type.
func TestNotNegative(t *testing.T) {
	t.Parallel()
	for value, refused := range map[string]bool{"30s": false, "0s": false, "-5m": true, "soon": false} {
		var resp validator.StringResponse
		tfutil.NotNegative().ValidateString(t.Context(), validator.StringRequest{Path: path.Root("lock_timeout"), ConfigValue: types.StringValue(value)}, &resp)
		assert.Equal(t, refused, resp.Diagnostics.HasError(), value)
	}
}
