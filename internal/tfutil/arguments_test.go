package tfutil_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// argumentAttributes has an attribute of each form.
func argumentAttributes() map[string]schema.Attribute {
	inner := map[string]schema.Attribute{
		"replicas": schema.Int64Attribute{Optional: true},
		"wait":     schema.StringAttribute{Optional: true, CustomType: timetypes.GoDurationType{}},
	}
	tfutil.Secret{Name: "token", Description: "Token."}.AddTo(inner)
	return map[string]schema.Attribute{
		"id":     schema.StringAttribute{Computed: true},
		"name":   schema.StringAttribute{Required: true},
		"on":     schema.BoolAttribute{Optional: true},
		"any":    schema.DynamicAttribute{Optional: true},
		"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"names":  schema.SetAttribute{Optional: true, ElementType: types.StringType},
		"one":    schema.SingleNestedAttribute{Optional: true, Attributes: inner},
		"list":   schema.ListNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: inner}},
		"groups": schema.MapNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: inner}},
	}
}

// Arguments come back as they were written, empty collections too; secrets and what only the provider sets do not.
func TestArguments(t *testing.T) {
	t.Parallel()
	s := schema.Schema{Attributes: argumentAttributes()}
	state := func() *tfsdk.State {
		return &tfsdk.State{Schema: s, Raw: tftypes.NewValue(s.Type().TerraformType(t.Context()), nil)}
	}
	from := state()
	group := func(secret types.String, version types.Int64) types.Object {
		object, ok := s.Attributes["one"].GetType().(types.ObjectType)
		require.True(t, ok)
		return types.ObjectValueMust(object.AttrTypes, map[string]attr.Value{
			"replicas": types.Int64Value(1000000), "wait": timetypes.NewGoDurationValue(90 * time.Second),
			"token": secret, "token_wo": types.StringNull(), "token_wo_version": version,
		})
	}
	secret, clean := group(types.StringValue("planted"), types.Int64Value(2)), group(types.StringNull(), types.Int64Null())
	objects := secret.Type(t.Context())
	for name, value := range map[string]attr.Value{
		"id": types.StringValue("7"), "name": types.StringValue("edge"), "on": types.BoolValue(false),
		"any": types.DynamicValue(types.StringValue("x")), "labels": types.MapValueMust(types.StringType, map[string]attr.Value{}),
		"names": types.SetValueMust(types.StringType, []attr.Value{types.StringValue("a")}), "one": secret,
		"list": types.ListValueMust(objects, []attr.Value{secret}), "groups": types.MapValueMust(objects, map[string]attr.Value{"a": secret}),
	} {
		require.Empty(t, from.SetAttribute(t.Context(), path.Root(name), value), name)
	}
	encoded, err := tfutil.ArgumentsJSON(s.Attributes, from.Raw, "name")
	require.NoError(t, err)
	assert.NotContains(t, string(encoded), "planted")

	to, want := state(), state()
	require.Empty(t, tfutil.SetArguments(t.Context(), s.Attributes, encoded, to))
	for name, value := range map[string]attr.Value{
		"on": types.BoolValue(false), "labels": types.MapValueMust(types.StringType, map[string]attr.Value{}),
		"names": types.SetValueMust(types.StringType, []attr.Value{types.StringValue("a")}), "one": clean,
		"list": types.ListValueMust(objects, []attr.Value{clean}), "groups": types.MapValueMust(objects, map[string]attr.Value{"a": clean}),
	} {
		require.Empty(t, want.SetAttribute(t.Context(), path.Root(name), value), name)
	}
	assert.True(t, want.Raw.Equal(to.Raw), "%s\n%s", want.Raw, to.Raw)

	// Another schema takes what it can, and no secret.
	before := to.Raw
	require.Empty(t, tfutil.SetArguments(t.Context(), s.Attributes, []byte(`{"on": "perhaps", "gone": 1, "id": "8", "one": 3}`), to))
	assert.True(t, before.Equal(to.Raw))
	assert.Len(t, tfutil.SetArguments(t.Context(), s.Attributes, []byte(`[`), to), 1)
}
