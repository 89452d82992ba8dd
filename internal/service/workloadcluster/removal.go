package workloadcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const scaleInMachineNames = "scale_in_machine_names"

// removalAttribute selects the machines that a scale-in removes first.
func removalAttribute() schema.Attribute {
	return names("Names of the Machines to remove first when the same apply lowers `replicas`; not for a group with an autoscaler. Names of machines that are gone may stay. Changing this applies to the next scale-in.")
}

// groupOf returns a node group of the arguments; nil when there is none.
func (m *model) groupOf(ctx context.Context, name string, diags *diag.Diagnostics) *nodeGroupModel {
	return tfutil.ElementAs[nodeGroupModel](ctx, m.NodeGroups, name, diags)
}

// withoutDone drops machine names that the state has from a completed operation. A new
// cluster has no machines to remove.
func withoutDone(ctx context.Context, groups map[string]vnfm.NodeGroup, state *model, diags *diag.Diagnostics) {
	for name, g := range groups {
		switch {
		case state == nil, state.IsGone():
			g.ScaleInMachineNames = nil
		case state.Status.ValueString() == base.StatusReady:
			var done []string
			if before := state.groupOf(ctx, name, diags); before != nil {
				done = tfutil.Strings(before.ScaleInMachineNames)
			}
			g.ScaleInMachineNames = slices.DeleteFunc(g.ScaleInMachineNames, func(machine string) bool { return slices.Contains(done, machine) })
		}
		groups[name] = g
	}
}

// checkRemovals rejects more names than the plan removes machines. Without a number in
// the state, the apply checks it.
func checkRemovals(ctx context.Context, groups map[string]vnfm.NodeGroup, state *model, diags *diag.Diagnostics) {
	if state == nil || state.NodeGroups.IsNull() || state.Status.ValueString() != base.StatusReady {
		return
	}
	for name, g := range groups {
		before, after := state.groupOf(ctx, name, diags), g.Replicas
		if len(g.ScaleInMachineNames) == 0 || after == nil || (before != nil && !tfutil.Set(before.Replicas)) {
			continue
		}
		had := cmp.Or(before, &nodeGroupModel{}).Replicas.ValueInt64()
		if lost := max(had-*after, 0); int64(len(g.ScaleInMachineNames)) > lost {
			diags.AddAttributeError(path.Root("node_groups").AtMapKey(name).AtName(scaleInMachineNames), "Too Many Machine Names",
				fmt.Sprintf("Node group %q is scaled from %d machines to %d, which removes %d, but scale_in_machine_names has %d: %s. Name at most as many machines as are removed, and lower replicas in the same apply.",
					name, had, *after, lost, len(g.ScaleInMachineNames), strings.Join(g.ScaleInMachineNames, ", ")))
		}
	}
}
