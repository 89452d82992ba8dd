package tfutil_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

func TestShownSecrets(t *testing.T) {
	const geheim = "geheim-of-the-test"
	object := func(attributes map[string]attr.Value) types.Object {
		kinds := map[string]attr.Type{}
		for name, value := range attributes {
			kinds[name] = value.Type(t.Context())
		}
		return types.ObjectValueMust(kinds, attributes)
	}
	text := types.StringValue
	for name, test := range map[string]struct {
		value types.Object
		want  string
	}{
		"nothing": {object(map[string]attr.Value{
			"user": text("admin"), "password": text(""), "existingSecret": text("db"), "imagePullSecret": text("pull"), "url": text("https://u@example.org/"),
			"tokenLimit": text("5"), "mail": text("a:b@c"),
		}), ""},
		"nested": {object(map[string]attr.Value{"db": object(map[string]attr.Value{"auth": object(map[string]attr.Value{"adminPassword": text(geheim)})})}), "chart.values.db.auth.adminPassword"},
		"in a list": {object(map[string]attr.Value{"users": types.TupleValueMust([]attr.Type{object(map[string]attr.Value{"passwd": text("")}).Type(t.Context())},
			[]attr.Value{object(map[string]attr.Value{"passwd": text(geheim)})})}), "chart.values.users[0].passwd"},
		"a list of them": {object(map[string]attr.Value{"tokens": text("x"), "api_token": types.TupleValueMust([]attr.Type{types.StringType}, []attr.Value{text(geheim)})}), "chart.values.api_token[0]"},
		"a proxy":        {object(map[string]attr.Value{"proxy": text("http://u:" + geheim + "@proxy.example:3128")}), "chart.values.proxy"},
		"beside what is unknown": {object(map[string]attr.Value{"later": types.StringUnknown(), "password": types.StringUnknown(), "token": text(geheim)}),
			"chart.values.token"},
		"as JSON": {object(map[string]attr.Value{"login": text(`{"password":"` + geheim + `"}`)}), "chart.values.login.password"},
	} {
		t.Run(name, func(t *testing.T) {
			var resp validator.DynamicResponse
			tfutil.ShownSecrets{Instead: "Do something else."}.ValidateDynamic(t.Context(), validator.DynamicRequest{Path: path.Root("chart").AtName("values"), ConfigValue: types.DynamicValue(test.value)}, &resp)
			if test.want == "" {
				require.Empty(t, resp.Diagnostics)
				return
			}
			require.Len(t, resp.Diagnostics, 1)
			require.Equal(t, diag.SeverityWarning, resp.Diagnostics[0].Severity())
			d := resp.Diagnostics[0]
			require.Equal(t, "Plan and state hold these in clear: "+test.want+". Do something else.", d.Detail())
			if _, ok := d.(diag.DiagnosticWithPath); ok || strings.Contains(d.Detail(), geheim) {
				t.Error("the secret is quoted")
			}
		})
	}
}

// TestShownSecretsOfADocument: an argument that is one document is read as one.
func TestShownSecretsOfADocument(t *testing.T) {
	for text, want := range map[string]string{
		`{"image": "a"}`:            "",
		`{"login": {"token": "x"}}`: "Plan and state hold these in clear: class_variables.login.token. Do something else.",
	} {
		var resp validator.StringResponse
		tfutil.ShownSecrets{Instead: "Do something else."}.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("class_variables"), ConfigValue: types.StringValue(text)}, &resp)
		got := ""
		for _, d := range resp.Diagnostics {
			got += d.Detail()
		}
		require.Equal(t, want, got, text)
	}
}

// A URL with credentials is refused without its lines, which Terraform would quote.
func TestCheckURLQuotesNoCredentials(t *testing.T) {
	var diags diag.Diagnostics
	tfutil.CheckURL(path.Root("proxy_url"), "http://u:geheim@h", false, &diags, "http")
	require.Len(t, diags, 1)
	require.True(t, strings.HasPrefix(diags[0].Detail(), "proxy_url: The URL holds credentials"))
	if _, ok := diags[0].(diag.DiagnosticWithPath); ok {
		t.Error("it has a path")
	}
}
