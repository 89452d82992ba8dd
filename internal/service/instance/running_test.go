package instance

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestStopOfInstance: what a plan that destroys an instance says about its VNFCs.
func TestStopOfInstance(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	for name, test := range map[string]struct {
		vdus map[string]vnfm.VDUState
		want string
	}{
		"VNFCs":         {map[string]vnfm.VDUState{"web": {Kind: "Deployment", Replicas: number(2)}, "db": {Kind: "StatefulSet", Replicas: number(1)}, "idle": {Kind: "Deployment", Replicas: number(0)}}, `db (1), web (2)`},
		"on every node": {map[string]vnfm.VDUState{"agent": {Kind: "DaemonSet"}}, "agent"},
		"nothing":       {nil, ""},
	} {
		r, ok := NewResource().(resource.ResourceWithModifyPlan)
		require.True(t, ok)
		diags := modeltest.PlanDestroy(t, r, func(m *model) {
			m.Name, m.VNFCCounts = types.StringValue("core"), attrs.VNFCCounts(test.vdus)
		})
		if test.want == "" {
			require.Empty(t, diags, name)
			continue
		}
		require.Len(t, diags, 1, name)
		require.Equal(t, "Running Functions Stop", diags[0].Summary(), name)
		require.Equal(t, `This plan terminates VNF Instance "core": `+test.want+".", diags[0].Detail(), name)
	}
}
