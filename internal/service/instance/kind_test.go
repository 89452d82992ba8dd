package instance

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	const rule = "Attribute kind must be group/Kind, for example apps/Deployment, or Kind for the core group, got: "
	for kind, want := range map[string]string{
		"apps/Deployment": "", "Pod": "", "example.com/Cell": "",
		"pod":                `"pod" is written as in manifests: "Pod".`,
		"apps/statefulset":   `"apps/statefulset" is written as in manifests: "apps/StatefulSet".`,
		"configmap":          `"configmap" is written as in manifests: "ConfigMap".`,
		"example.com/cell":   `"example.com/cell" is written as in manifests: "example.com/Cell".`,
		"":                   rule + "",
		" ":                  rule + " ",
		"apps/v1/":           rule + "apps/v1/",
		"apps/v1/Deployment": rule + "apps/v1/Deployment",
	} {
		var resp validator.StringResponse
		kindRule{}.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("kind"), ConfigValue: types.StringValue(kind)}, &resp)
		if want == "" {
			require.Empty(t, resp.Diagnostics, kind)
			continue
		}
		require.Len(t, resp.Diagnostics, 1, kind)
		require.Equal(t, want, resp.Diagnostics[0].Detail())
	}
}
