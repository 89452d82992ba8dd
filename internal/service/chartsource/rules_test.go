package chartsource

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
)

// TestRules chooses between sources, which a condition leaves unknown until the plan.
func TestRules(t *testing.T) {
	text, unknown, null := types.StringValue("x"), types.StringUnknown(), types.StringNull()
	for name, c := range map[string]struct {
		path, repository, name types.String
		want                   string
	}{
		"a folder":                           {text, null, null, ""},
		"a repository":                       {null, text, text, ""},
		"two":                                {text, text, text, "Conflicting Chart Sources"},
		"one of two":                         {unknown, unknown, unknown, ""},
		"one, and another one perhaps":       {text, unknown, null, ""},
		"a repository without a name":        {null, text, null, "Missing Chart Name"},
		"a repository to be, without a name": {null, unknown, null, ""},
		"a folder, and a name perhaps":       {text, null, unknown, ""},
		"none":                               {null, null, null, "Missing Chart Source"},
	} {
		t.Run(name, func(t *testing.T) {
			values := map[string]attr.Value{"path": c.path, "repository": c.repository, "name": c.name}
			kinds := map[string]attr.Type{"path": types.StringType, "repository": types.StringType, "name": types.StringType}
			resp := &validator.ObjectResponse{}
			Rules{}.ValidateObject(t.Context(), validator.ObjectRequest{Path: path.Root("chart"), ConfigValue: types.ObjectValueMust(kinds, values)}, resp)
			if c.want == "" {
				assert.Empty(t, resp.Diagnostics)
			} else if assert.Len(t, resp.Diagnostics, 1) {
				assert.Equal(t, c.want, resp.Diagnostics[0].Summary())
			}
		})
	}
}
