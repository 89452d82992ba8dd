package privateregistry

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestWords: what a plan says of an installation.
func TestWords(t *testing.T) {
	t.Parallel()
	has := model{Name: types.StringValue("registry"), Runtime: types.StringValue("docker"), Port: types.Int64Value(5000)}
	has.Users = types.MapNull(types.StringType)
	has.Drift = texts("port is 5001, not 5000")
	for name, tc := range map[string]struct {
		change func(*model)
		want   []string
	}{
		"drift":       {func(*model) {}, []string{"REPAIR registry", "  port is 5001, not 5000"}},
		"port":        {func(m *model) { m.Port = types.Int64Value(6000) }, []string{"UPDATE registry: port", "  container: replaced, interrupted"}},
		"proxy":       {func(m *model) { m.Proxy = types.ObjectValueMust(nil, nil) }, []string{"UPDATE registry: proxy", "  docker: restarted if it has another proxy, interrupted"}},
		"server":      {func(m *model) { m.InstanceGeneration = types.Int64Value(2) }, []string{"UPDATE registry: instance_generation", "  server: the registry is installed on it if it is another one"}},
		"users, keys": {func(m *model) { m.UsersWOVersion, m.SSH = types.Int64Value(2), types.ObjectValueMust(nil, nil) }, []string{"UPDATE registry: users_wo_version, ssh", "  container: replaced, interrupted"}},
	} {
		plan := has
		tc.change(&plan)
		var got []string
		require.False(t, plan.words(t.Context(), &has).ElementsAs(t.Context(), &got, false).HasError())
		require.Equal(t, tc.want, got, name)
	}
	plan := has
	plan.InstanceGeneration = types.Int64Unknown()
	require.True(t, plan.words(t.Context(), &has).IsUnknown())
	plan.Operations = types.ListUnknown(types.StringType)
	plan.fillWords(t.Context(), &has)
	require.True(t, plan.Operations.IsNull())
	require.Equal(t, []string{"INSTALL registry", "  container: added, by docker"}, tfutil.Strings(has.words(t.Context(), nil)))
}

// TestStopOfRegistry: what a plan that destroys a registry says about its container.
func TestStopOfRegistry(t *testing.T) {
	t.Parallel()
	for status, stops := range map[string]bool{statusReady: true, statusDrifted: true, statusUnreachable: false, statusUnknown: false} {
		diags := modeltest.PlanDestroy(t, &Resource{}, func(m *model) {
			m.Name, m.Status = types.StringValue("images"), types.StringValue(status)
		})
		if !stops {
			require.Empty(t, diags, status)
			continue
		}
		require.Len(t, diags, 1, status)
		require.Equal(t, "Running Functions Stop", diags[0].Summary(), status)
		require.Equal(t, `This plan terminates Private Registry "images": its container.`, diags[0].Detail(), status)
	}
}
