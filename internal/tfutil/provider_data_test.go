package tfutil_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

func TestProviderData(t *testing.T) {
	t.Parallel()
	known := &tfutil.ProviderData{Manager: lcm.New(lcm.Config{}), Version: "1"}
	for name, tt := range map[string]struct {
		data any
		// configured and required are what the diagnostics of the two steps hold.
		configured, required string
	}{
		"before Configure": {nil, "", "Provider Configuration Unknown"},
		"wrong type":       {"x", "Unexpected Provider Data", "Provider Configuration Unknown"},
		"unknown":          {&tfutil.ProviderData{}, "", "Provider Configuration Unknown"},
		"known":            {known, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var configured, required diag.Diagnostics
			data := tfutil.Configure(tt.data, &configured)
			manager := data.RequireManager(&required)
			require.Equal(t, tt.configured, summaries(configured), "Configure says")
			require.Equal(t, tt.required, summaries(required), "RequireManager says")
			require.Equal(t, tt.required == "", data.Known(), "known")
			require.Equal(t, data.Known(), manager != nil, "manager")
		})
	}
}

func summaries(diags diag.Diagnostics) string {
	var all []string
	for _, d := range diags {
		all = append(all, d.Summary())
	}
	return strings.Join(all, "\n")
}
