package workloadcluster

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"
)

// TestNumbersOfMachines: numbers that contradict each other are errors of the configuration.
func TestNumbersOfMachines(t *testing.T) {
	t.Parallel()
	null, unknown := types.Int64Null(), types.Int64Unknown()
	number := types.Int64Value
	for name, c := range map[string]struct {
		replicas, least, most types.Int64
		want                  string
	}{
		"replicas":            {number(2), null, null, ""},
		"autoscaler":          {null, number(0), number(3), ""},
		"neither":             {null, null, null, ""},
		"both":                {number(2), number(1), number(3), "either replicas says how many nodes there are"},
		"replicas and a half": {number(2), null, number(3), "either replicas says how many nodes there are"},
		"one limit":           {null, number(1), null, "set both min_replicas and max_replicas"},
		"crossed":             {null, number(4), number(3), "a minimum of 4 nodes, above the maximum of 3"},
		"unknown":             {number(2), unknown, number(3), ""},
	} {
		group := types.ObjectValueMust(
			map[string]attr.Type{"replicas": types.Int64Type, "min_replicas": types.Int64Type, "max_replicas": types.Int64Type},
			map[string]attr.Value{"replicas": c.replicas, "min_replicas": c.least, "max_replicas": c.most})
		var resp validator.ObjectResponse
		sizes{}.ValidateObject(t.Context(), validator.ObjectRequest{Path: path.Root("node_groups").AtMapKey("a"), ConfigValue: group}, &resp)
		if c.want == "" {
			require.Empty(t, resp.Diagnostics, name)
			continue
		}
		require.Len(t, resp.Diagnostics, 1, name)
		require.Contains(t, resp.Diagnostics[0].Summary(), `ode group "a"`, name)
		require.Contains(t, strings.ToLower(resp.Diagnostics[0].Summary()+": "+resp.Diagnostics[0].Detail()), c.want, name)
		located, ok := resp.Diagnostics[0].(diag.DiagnosticWithPath)
		require.True(t, ok && located.Path().Equal(path.Root("node_groups").AtMapKey("a")), name)
	}
	for n, want := range map[types.Int64]int{number(1): 0, number(3): 0, null: 0, unknown: 0, number(2): 1, number(4): 1, number(0): 1, number(-1): 1} {
		var resp validator.Int64Response
		odd{}.ValidateInt64(t.Context(), validator.Int64Request{Path: path.Root("control_plane").AtName("replicas"), ConfigValue: n}, &resp)
		require.Len(t, resp.Diagnostics, want, n.String())
	}
}
