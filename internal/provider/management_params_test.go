package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// objectOf is an object as a configuration has it.
func objectOf(t *testing.T, values map[string]attr.Value) types.Object {
	t.Helper()
	attributes := map[string]attr.Type{}
	for name, v := range values {
		attributes[name] = v.Type(t.Context())
	}
	return types.ObjectValueMust(attributes, values)
}

// Entries are read as they are written; those that are not known yet are left out, and a fault quotes no value.
func TestManagementParams(t *testing.T) {
	t.Parallel()
	login := objectOf(t, map[string]attr.Value{"password": types.StringValue("planted")})
	read := vnfm.RunParams{"core": {"password": "planted"}}
	for name, tt := range map[string]struct {
		value types.Dynamic
		want  vnfm.RunParams
		fault string
	}{
		"none":    {types.DynamicNull(), vnfm.RunParams{}, ""},
		"unknown": {types.DynamicUnknown(), nil, ""},
		"object":  {types.DynamicValue(objectOf(t, map[string]attr.Value{"core": login})), read, ""},
		"map":     {types.DynamicValue(types.MapValueMust(login.Type(t.Context()), map[string]attr.Value{"core": login})), read, ""},
		"null and unknown entries": {types.DynamicValue(objectOf(t, map[string]attr.Value{
			"core": login, "other": types.StringNull(), "later": objectOf(t, map[string]attr.Value{"password": types.StringUnknown()}),
		})), read, ""},
		"text":       {types.DynamicValue(types.StringValue("planted")), nil, "management_params: an object is expected, not a string."},
		"text entry": {types.DynamicValue(objectOf(t, map[string]attr.Value{"core": types.StringValue("planted")})), vnfm.RunParams{}, `management_params["core"] is no object.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			assert.Equal(t, tt.want, readManagementParams(tt.value, &diags))
			if tt.fault == "" {
				assert.Empty(t, diags)
				return
			}
			require.Len(t, diags, 1)
			assert.Contains(t, diags[0].Detail(), tt.fault)
			assert.NotContains(t, diags[0].Detail(), "planted")
		})
	}
}
