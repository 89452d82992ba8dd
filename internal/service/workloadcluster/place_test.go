package workloadcluster

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
)

// TestSelection: an object of the cloud is found by its id, or by name and tags; no tags are none.
func TestSelection(t *testing.T) {
	t.Parallel()
	noTags, none := types.SetNull(types.StringType), types.StringNull()
	empty := types.SetValueMust(types.StringType, nil)
	tags := types.SetValueMust(types.StringType, []attr.Value{types.StringValue("a")})
	id, name := types.StringValue("1"), types.StringValue("net")
	for what, c := range map[string]struct {
		id, name types.String
		tags     types.Set
		optional bool
		want     string
	}{
		"id":                     {id, none, noTags, false, ""},
		"id, empty tags":         {id, none, empty, false, ""},
		"name and tags":          {none, name, tags, false, ""},
		"unknown id and name":    {types.StringUnknown(), types.StringUnknown(), noTags, false, ""},
		"id and unknown tags":    {id, none, types.SetUnknown(types.StringType), false, ""},
		"unknown tags":           {none, none, types.SetUnknown(types.StringType), false, ""},
		"nothing":                {none, none, noTags, false, "Missing Selection"},
		"empty tags":             {none, none, empty, false, "Missing Selection"},
		"nothing where optional": {none, none, empty, true, ""},
		"id and name":            {id, name, noTags, true, "Conflicting Selection"},
		"id and tags":            {id, none, tags, false, "Conflicting Selection"},
	} {
		o := types.ObjectValueMust(map[string]attr.Type{"id": types.StringType, "name": types.StringType, "tags": types.SetType{ElemType: types.StringType}},
			map[string]attr.Value{"id": c.id, "name": c.name, "tags": c.tags})
		var resp validator.ObjectResponse
		selection{optional: c.optional}.ValidateObject(t.Context(), validator.ObjectRequest{Path: path.Root("network"), ConfigValue: o}, &resp)
		got := ""
		if resp.Diagnostics.HasError() {
			got = resp.Diagnostics[0].Summary()
		}
		assert.Equal(t, c.want, got, what)
	}
}
