package workloadcluster

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
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
		"both":                {number(2), number(1), number(3), "set one or the other"},
		"replicas and a half": {number(2), null, number(3), "set one or the other"},
		"one limit":           {null, number(1), null, "needs both min_replicas and max_replicas"},
		"crossed":             {null, number(4), number(3), "min_replicas, 4, is above max_replicas, 3"},
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
		require.Contains(t, resp.Diagnostics[0].Detail(), `node_groups["a"]: `)
		require.Contains(t, resp.Diagnostics[0].Detail(), c.want)
	}
	for n, want := range map[types.Int64]int{number(1): 0, number(3): 0, null: 0, unknown: 0, number(2): 1, number(4): 1} {
		var resp validator.Int64Response
		odd{}.ValidateInt64(t.Context(), validator.Int64Request{Path: path.Root("control_plane").AtName("replicas"), ConfigValue: n}, &resp)
		require.Len(t, resp.Diagnostics, want, n.String())
	}
}
