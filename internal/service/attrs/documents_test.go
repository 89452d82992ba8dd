package attrs_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
)

// listOf is a list of strings; "?" is unknown.
func listOf(texts ...string) types.List {
	var all []attr.Value
	for _, text := range texts {
		if text == "?" {
			all = append(all, types.StringUnknown())
			continue
		}
		all = append(all, types.StringValue(text))
	}
	return types.ListValueMust(types.StringType, all)
}

// TestDocuments: later documents are merged over earlier ones; whole numbers are integers.
func TestDocuments(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	at := path.Root("chart").AtName("values")
	assert.Equal(t, map[string]any{"a": map[string]any{"b": int64(2), "c": "x"}, "d": 0.5},
		attrs.Documents(at, listOf(`{"a": {"b": 1, "c": "x"}}`, "", "a:\n  b: 2\nd: 0.5\n"), &diags))
	assert.Nil(t, attrs.Documents(at, types.ListNull(types.StringType), &diags))
	assert.Equal(t, map[string]any{"size": int64(3)}, attrs.Document(at, types.StringValue("size: 3"), &diags))
	assert.Nil(t, attrs.Document(at, types.StringNull(), &diags))
	assert.Empty(t, diags)
}

// TestBadDocuments: each document that cannot be read is an error with its path and position, also
// where others are unknown yet.
func TestBadDocuments(t *testing.T) {
	t.Parallel()
	values, ok := attrs.ChartValues("").(schema.ListAttribute)
	require.True(t, ok)
	var resp validator.ListResponse
	for _, v := range values.Validators {
		v.ValidateList(t.Context(), validator.ListRequest{Path: path.Root("chart").AtName("values"), ConfigValue: listOf("a: 1", "?", "a: 1\nb: c: d", "- a", "text")}, &resp)
	}
	var got []string
	for _, d := range resp.Diagnostics {
		got = append(got, d.Detail())
	}
	const expected = " An object in YAML or JSON is expected, for example yamlencode({ … })."
	assert.Equal(t, []string{
		"chart.values[2]: line 2: mapping values are not allowed in this context." + expected,
		"chart.values[3]: line 1, column 1: this is a list." + expected,
		"chart.values[4]: line 1, column 1: this is a string, number or boolean." + expected,
	}, got)

	variables, ok := attrs.ClassVariables("").(schema.StringAttribute)
	require.True(t, ok)
	for text, want := range map[types.String]bool{types.StringUnknown(): false, types.StringNull(): false, types.StringValue(`{"a": 1}`): false, types.StringValue("[1]"): true} {
		var resp validator.StringResponse
		for _, v := range variables.Validators {
			v.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("topology").AtName("class_variables"), ConfigValue: text}, &resp)
		}
		assert.Equal(t, want, resp.Diagnostics.HasError(), "%s", text)
	}
}
