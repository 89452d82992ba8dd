package workloadcluster

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestStopOfCluster: what a plan that destroys a cluster says about its machines.
func TestStopOfCluster(t *testing.T) {
	t.Parallel()
	groups := func(replicas map[string]int64) types.Map {
		out := map[string]attr.Value{}
		for name, n := range replicas {
			out[name] = counts(vnfm.GroupState{Replicas: n})
		}
		return types.MapValueMust(countType, out)
	}
	many := map[string]int64{}
	for i := range 12 {
		many[fmt.Sprintf("g%02d", i)] = 1
	}
	for name, test := range map[string]struct {
		controlPlane types.Object
		groups       types.Map
		want         string
	}{
		"machines": {
			counts(vnfm.GroupState{Desired: 5, Replicas: 3, Ready: 1}), groups(map[string]int64{"workers": 2, "edge": 1, "empty": 0}),
			`This plan terminates Workload Cluster "north": control plane (machines: 3), node group edge (machines: 1), node group workers (machines: 2).`,
		},
		"many groups": {
			counts(vnfm.GroupState{Replicas: 1}), groups(many),
			`This plan terminates Workload Cluster "north": control plane (machines: 1), node group g00 (machines: 1), node group g01 (machines: 1), ` +
				`node group g02 (machines: 1), node group g03 (machines: 1), node group g04 (machines: 1), node group g05 (machines: 1), ` +
				`node group g06 (machines: 1), node group g07 (machines: 1), node group g08 (machines: 1), 3 more.`,
		},
		"no machine":  {counts(vnfm.GroupState{Desired: 1}), groups(nil), ""},
		"not created": {types.ObjectNull(countType.AttrTypes), types.MapNull(countType), ""},
	} {
		r, ok := NewResource().(resource.ResourceWithModifyPlan)
		require.True(t, ok)
		diags := modeltest.PlanDestroy(t, r, func(m *model) {
			m.Name, m.ControlPlaneStatus, m.NodeGroupsStatus = types.StringValue("north"), test.controlPlane, test.groups
		})
		if test.want == "" {
			require.Empty(t, diags, name)
			continue
		}
		require.Len(t, diags, 1, name)
		require.Equal(t, "Running Functions Stop", diags[0].Summary(), name)
		require.Equal(t, test.want, diags[0].Detail(), name)
	}
}
