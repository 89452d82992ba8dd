package workloadcluster

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// setGone sets the status of a cluster that is being deleted or missing, which its record does not
// have. One that was never complete keeps the status of its creation.
func (m *model) setGone(o *vnfm.Observation, diags *diag.Diagnostics) {
	wasComplete := m.Status.ValueString() == base.StatusReady || m.Generation.ValueInt64() > 0
	switch {
	case o.Cluster != nil && o.Cluster.IsDeleting():
		m.Status = types.StringValue(string(vnfm.StatusDeleting))
		warnOfDeletion(m.Name.ValueString(), o.Cluster, diags)
	case o.Cluster == nil && o.Objects != nil && wasComplete:
		// Without objects nothing was observed.
		m.Status = types.StringValue(string(vnfm.StatusDeleted))
	}
}

// warnOfPause says that somebody else has paused the cluster.
func (m *model) warnOfPause(s *vnfm.ClusterState, diags *diag.Diagnostics) {
	if s == nil || !s.Paused || s.IsDeleting() || m.Paused.ValueBool() {
		return
	}
	diags.AddWarning(titled(m.Name.ValueString())+" Is Paused", "Somebody else has paused it with spec.paused or the annotation cluster.x-k8s.io/paused, and Cluster API changes nothing of it. "+
		"An apply that changes the cluster fails until it is resumed. Set paused = false to have Terraform resume it, with force_conflicts = true if another tool owns the field.")
}

// warnOfTopology says why Cluster API can no longer derive the objects of a cluster from its class, for example because the class
// requires a variable now.
func (m *model) warnOfTopology(s *vnfm.ClusterState, diags *diag.Diagnostics) {
	if s == nil || s.IsDeleting() {
		return
	}
	for _, c := range s.Conditions {
		if c.Type == "TopologyReconciled" && c.Reason == "ReconcileFailed" {
			diags.AddWarning("Topology of "+titled(m.Name.ValueString())+" Is Not Reconciled",
				"What its ClusterClass describes no longer reaches the cluster. Cluster API says: "+strings.TrimSuffix(strings.Join(strings.Fields(c.Message), " "), ".")+".")
		}
	}
}

// warnOfDeletion names the finalizers that the deletion of a cluster waits for.
func warnOfDeletion(name string, s *vnfm.ClusterState, diags *diag.Diagnostics) {
	if !s.IsDeleting() {
		return
	}
	detail := fmt.Sprintf("Its Cluster is being deleted since %s and has the finalizers %s.", tfutil.Instant(s.DeletingSince).ValueString(), strings.Join(s.Finalizers, ", "))
	for _, c := range s.Conditions {
		if c.Type == "Deleting" && c.Message != "" {
			detail += fmt.Sprintf(" Cluster API says: %s: %s.", c.Reason, strings.TrimSuffix(strings.Join(strings.Fields(c.Message), " "), "."))
		}
	}
	if s.Paused {
		detail += " It is paused, and Cluster API deletes nothing of a paused cluster."
	}
	diags.AddWarning(titled(name)+" Is Being Deleted", detail+" An apply waits until it is deleted and creates it again; a destroy waits for the deletion. "+
		"Cluster API removes its own finalizer, cluster.cluster.x-k8s.io, last; any other one is removed by the program that has set it.")
}
