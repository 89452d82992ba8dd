package workloadcluster

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// TestGroupOfAllRights: only the group that is above RBAC is warned of.
func TestGroupOfAllRights(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]int{"system:masters": 1, "pipelines": 0, "kubeadm:cluster-admins": 0} {
		var resp validator.SetResponse
		boundGroups{}.ValidateSet(t.Context(), validator.SetRequest{ConfigValue: types.SetValueMust(types.StringType, []attr.Value{types.StringUnknown(), types.StringValue(group)})}, &resp)
		if got := resp.Diagnostics.WarningsCount(); got != want || resp.Diagnostics.HasError() {
			t.Errorf("%s: %v", group, resp.Diagnostics)
		}
	}
}
