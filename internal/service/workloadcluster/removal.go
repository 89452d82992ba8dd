package workloadcluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const removeMachines = "remove_machines"

// removalAttribute names the machines that go when a node group gets smaller.
func removalAttribute() schema.Attribute {
	return base.Names("Names of the Machines that go when the same apply lowers `replicas`, as the data source `vnf_capi_workload_cluster` shows them: as many as the group loses, or fewer, and Cluster API chooses the others. " +
		"Names of machines that are gone may stay in the configuration. Not for a group that an autoscaler sizes: it chooses by itself.")
}

// groupOf returns a node group of the arguments; nil when there is none.
func (m *model) groupOf(name string) fields {
	object, _ := m.NodeGroups.Elements()[name].(types.Object)
	return fieldsOf(object)
}

// withoutDone leaves out of node groups the machines that were named before: what the
// state shows of an operation that has ended is done. A new cluster has none to remove.
func withoutDone(groups map[string]vnfm.NodeGroup, state *model) {
	for name, g := range groups {
		switch {
		case state == nil:
			g.RemoveMachines = nil
		case state.Status.ValueString() == string(vnfm.StatusInstantiated):
			done := state.groupOf(name).set(removeMachines)
			g.RemoveMachines = slices.DeleteFunc(g.RemoveMachines, func(machine string) bool { return slices.Contains(done, machine) })
		}
		groups[name] = g
	}
}

// checkRemovals refuses to name more machines than the plan takes away. Where the state
// says no number the apply finds out.
func checkRemovals(groups map[string]vnfm.NodeGroup, state *model, diags *diag.Diagnostics) {
	if state == nil || state.NodeGroups.IsNull() || state.Status.ValueString() != string(vnfm.StatusInstantiated) {
		return
	}
	for name, g := range groups {
		before, after := state.groupOf(name), g.Replicas
		if len(g.RemoveMachines) == 0 || after == nil || (before != nil && before.optional("replicas") == nil) {
			continue
		}
		had := before.number("replicas")
		if lost := max(had-*after, 0); int64(len(g.RemoveMachines)) > lost {
			diags.AddAttributeError(path.Root("node_groups").AtMapKey(name).AtName(removeMachines), "More Machines Named Than Go",
				fmt.Sprintf("Node group %q goes from %d machines to %d and loses %d, and %d are named: %s. Name as many as go, or fewer, and lower replicas in the same apply.",
					name, had, *after, lost, len(g.RemoveMachines), strings.Join(g.RemoveMachines, ", ")))
		}
	}
}
