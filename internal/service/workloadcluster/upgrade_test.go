package workloadcluster

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
)

// typesOf are the types of the attributes of an object.
func typesOf(t *testing.T, object attr.Type) map[string]attr.Type {
	t.Helper()
	o, ok := object.(types.ObjectType)
	require.True(t, ok)
	return o.AttrTypes
}

func TestUpgradePath(t *testing.T) {
	templates := func(version string) *model {
		source := magnum.Template{Image: magnum.Image{KubeVersion: version}}
		definition, err := source.Definition()
		require.NoError(t, err)
		templateTypes := typesOf(t, clusterTemplateAttribute().GetType())
		template, diags := types.ObjectValueFrom(t.Context(), templateTypes, clusterTemplateModel{
			Definition: types.StringValue(definition), Labels: types.MapNull(types.StringType),
			ChartCredentials: types.ObjectNull(typesOf(t, templateTypes["chart_credentials"])),
		})
		require.False(t, diags.HasError(), "%v", diags)
		return &model{InstanceModel: base.InstanceModel{Name: types.StringValue("edge")}, ClusterTemplate: template}
	}
	for name, c := range map[string]struct{ from, to, want, says string }{
		"same":           {"1.34.0", "1.34.0", "", ""},
		"patch":          {"1.34.0", "v1.34.2", "", ""},
		"next minor":     {"v1.34.2", "1.35.0", "", ""},
		"minor skipped":  {"1.33.1", "1.35.0", "Minor Version Skipped", "Upgrade one minor version at a time: to 1.34 first, then to 1.35.0."},
		"patch back":     {"1.34.2", "1.34.1", "Downgrade of Kubernetes", "cannot be downgraded to 1.34.1: Kubernetes does not support downgrades."},
		"minor back":     {"1.35.0", "1.34.9", "Downgrade of Kubernetes", "cannot be downgraded to 1.34.9: Kubernetes does not support downgrades."},
		"major":          {"1.35.0", "2.0.0", "Minor Version Skipped", "Upgrade one minor version at a time: to 1.36 first, then to 2.0.0."},
		"not a version":  {"1.34.0", "latest", "", ""},
		"was none":       {"", "1.34.0", "", ""},
		"ten after nine": {"1.9.0", "1.10.0", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			m := func(version string) *model {
				return &model{InstanceModel: base.InstanceModel{Name: types.StringValue("edge")}, KubernetesVersion: attrs.NewVersion(version)}
			}
			checkUpgrade(t.Context(), m(c.to), m(c.from), &diags)
			if c.want == "" {
				assert.False(t, diags.HasError(), "%v", diags)
				return
			}
			assert.Equal(t, 1, diags.ErrorsCount())
			assert.Equal(t, c.want, diags[0].Summary())
			assert.Contains(t, diags[0].Detail(), c.says)

			// The same of the versions of cluster templates.
			diags = nil
			checkUpgrade(t.Context(), templates(c.to), templates(c.from), &diags)
			assert.Equal(t, 1, diags.ErrorsCount())
			assert.Equal(t, c.want, diags[0].Summary())
			assert.Contains(t, diags[0].Detail(), c.says)
		})
	}
}
