package workloadcluster

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAddonStatus: what is observed of the objects decides on status and drift of an add-on.
func TestAddonStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paused  bool
		objects map[string]string
		status  string
		drift   []string
	}{
		"deployed": {objects: map[string]string{"add-on: cni": "0123"}, status: "DEPLOYED"},
		"missing":  {objects: map[string]string{"add-on: other": "0123"}, status: "MISSING"},
		"paused":   {paused: true, objects: map[string]string{"add-on: cni": "drifted: a"}, status: "PAUSED"},
		"drifted": {
			objects: map[string]string{"add-on: cni": "drifted: v1/ConfigMap a is gone; v1/ConfigMap b data.x, data.y"},
			status:  "DRIFTED", drift: []string{"v1/ConfigMap a is gone", "v1/ConfigMap b data.x, data.y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			m := &model{Paused: types.BoolValue(c.paused), charted: charted{
				AddonsStatus: types.MapValueMust(addonStatusType, map[string]attr.Value{"cni": addonStatus(&vnfm.Chart{Name: "cni"}, "")}),
			}}
			m.setObservedStatus(t.Context(), c.objects, &diags)
			entry := tfutil.ElementAs[addonStatusModel](t.Context(), m.AddonsStatus, "cni", &diags)
			require.Empty(t, diags)
			require.Equal(t, c.status, entry.Status.ValueString())
			require.False(t, entry.Drift.IsNull())
			require.Equal(t, c.drift, tfutil.Strings(entry.Drift))
		})
	}
}
