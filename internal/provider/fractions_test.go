package provider_test

import (
	"math"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// TestFractions: what is no whole number where one is needed is a mistake of the user.
func TestFractions(t *testing.T) {
	t.Parallel()
	typ := getSchema(t).ResourceSchemas["vnf_instance"].ValueType()
	for want, argument := range map[string]object{
		"1.5 is not a whole number.":                       {"scale_levels": object{"web": 1.5}},
		"0.25 is not a whole number.":                      {"additional_params_wo_version": 0.25},
		"1e+300 is not a whole number of at most 64 bits.": {"additional_params_wo_version": math.Pow10(300)},
	} {
		argument["name"], argument["vim_id"], argument["package_id"] = "core", "v", "p"
		config, err := tfprotov6.NewDynamicValue(typ, configured(t, typ, argument))
		require.NoError(t, err)
		resp, err := provider.NewServer("test")().ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: "vnf_instance", Config: &config})
		require.NoError(t, err)
		var said []string
		for _, d := range resp.Diagnostics {
			said = append(said, d.Summary+": "+d.Detail)
		}
		assert.Equal(t, []string{"Not a Whole Number: " + want}, said)
	}
}
