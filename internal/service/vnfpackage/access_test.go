package vnfpackage

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAccessOfConfigurations: credentials that contradict each other or the source are refused.
func TestAccessOfConfigurations(t *testing.T) {
	t.Parallel()
	text := types.StringValue
	const url = "https://packages.example/web.csar"
	headers := types.MapValueMust(types.StringType, map[string]attr.Value{"PRIVATE-TOKEN": text("t")})
	for name, tt := range map[string]struct {
		source string
		m      accessModel
		// external is whether external artifacts are fetched.
		external bool
		want     string
	}{
		"none":               {source: "packages/web"},
		"basic":              {source: url, m: accessModel{Username: text("u"), PasswordWO: text("p")}},
		"bearer":             {source: "oci://registry.example/web:1", m: accessModel{BearerTokenWO: text("t")}},
		"two":                {source: url, m: accessModel{Username: text("u"), Password: text("p"), BearerToken: text("t")}, want: "Conflicting Credentials"},
		"no user":            {source: url, m: accessModel{Password: text("p")}, want: "Missing User Name"},
		"for a path":         {source: "packages/web", m: accessModel{BearerToken: text("t")}, want: "Credentials Without a Server"},
		"CA for a path":      {source: "packages/web", m: accessModel{CACertificate: text("c")}, want: "Credentials Without a Server"},
		"CA for artifacts":   {source: "packages/web", m: accessModel{CACertificate: text("c")}, external: true},
		"headers for a path": {source: "packages/web", m: accessModel{HeadersWO: headers}, want: "Credentials Without a Server"},
		"no headers":         {source: "packages/web", m: accessModel{Headers: types.MapValueMust(types.StringType, map[string]attr.Value{})}},
	} {
		var diags diag.Diagnostics
		tt.m.check(text(tt.source), tt.external, &diags)
		if tt.want == "" {
			require.Empty(t, diags, name)
			continue
		}
		require.Len(t, diags, 1, name)
		require.Equal(t, tt.want, diags[0].Summary(), name)
	}
}

// TestHeadersOfBothForms: the write-only headers win.
func TestHeadersOfBothForms(t *testing.T) {
	t.Parallel()
	headers := func(of map[string]string) types.Map {
		m, diags := types.MapValueFrom(t.Context(), types.StringType, of)
		require.Empty(t, diags)
		return m
	}
	m := accessModel{Headers: headers(map[string]string{"A": "1", "B": "1"}), HeadersWO: headers(map[string]string{"B": "2"})}
	require.Equal(t, map[string]vnfm.Secret{"A": "1", "B": "2"}, m.toDomain().Headers)
}
