package tfutil_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestMatches compiles nothing for an argument that is not set.
func TestMatches(t *testing.T) {
	t.Parallel()
	check := func(form string, value types.String) *validator.StringResponse {
		resp := &validator.StringResponse{}
		tfutil.Matches(lazyregexp.New(form), "must be a number").ValidateString(t.Context(), validator.StringRequest{ConfigValue: value}, resp)
		return resp
	}
	for _, unset := range []types.String{types.StringNull(), types.StringUnknown()} {
		require.Empty(t, check("(", unset).Diagnostics)
	}
	require.Empty(t, check(`^\d+$`, types.StringValue("12")).Diagnostics)
	wrong := check(`^\d+$`, types.StringValue("twelve")).Diagnostics
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0].Detail(), "must be a number, got: twelve")
}
