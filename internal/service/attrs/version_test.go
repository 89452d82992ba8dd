package attrs_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
)

// TestVersion: a leading v makes no difference, and is in no computed version.
func TestVersion(t *testing.T) {
	t.Parallel()
	read := func(text any) attrs.Version {
		v, err := attrs.VersionType{}.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.String, text))
		require.NoError(t, err)
		version, ok := v.(attrs.Version)
		require.True(t, ok)
		return version
	}
	for _, c := range []struct {
		a, b  string
		equal bool
	}{{"v1.34.0", "1.34.0", true}, {"1.34.0", "1.34.0", true}, {"v1.34.0", "1.34.1", false}} {
		equal, diags := read(c.a).StringSemanticEquals(t.Context(), read(c.b))
		assert.Empty(t, diags)
		assert.Equal(t, c.equal, equal, "%s and %s", c.a, c.b)

		req := planmodifier.StringRequest{StateValue: types.StringValue(c.a), PlanValue: types.StringValue(c.b)}
		resp := planmodifier.StringResponse{PlanValue: req.PlanValue}
		attrs.KeepEqualVersion().PlanModifyString(t.Context(), req, &resp)
		assert.Equal(t, c.equal, resp.PlanValue.Equal(req.StateValue), "the plan of %s over %s", c.b, c.a)
	}
	assert.Equal(t, "1.34.0", read("v1.34.0").Number())
	assert.Equal(t, "v1.34.0", read("v1.34.0").ValueString(), "the argument stays as it was written")
	assert.Equal(t, "1.34.0", attrs.NewVersion("v1.34.0").ValueString())
	assert.True(t, attrs.NewVersion("").IsNull())
	assert.True(t, read(tftypes.UnknownValue).IsUnknown())
}
