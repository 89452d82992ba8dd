package workloadcluster

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestStatusOfAGoneCluster: a refresh shows that the Cluster is being deleted or missing, and names
// the finalizers.
func TestStatusOfAGoneCluster(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	deleting := &vnfm.ClusterState{
		DeletingSince: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Finalizers: []string{"cluster.cluster.x-k8s.io", "example.org/hold"},
		Conditions: []vnfm.Condition{{Type: "Deleting", Status: "True", Reason: "WaitingForInfrastructureDeletion", Message: "* DevCluster edge\n  still exists."}},
	}
	for name, c := range map[string]struct {
		record      vnfm.InstanceStatus
		generation  int64
		observation vnfm.Observation
		want        string
	}{
		"complete":                     {vnfm.StatusInstantiated, 1, vnfm.Observation{Objects: seen, Cluster: &vnfm.ClusterState{}}, "READY"},
		"missing":                      {vnfm.StatusInstantiated, 1, vnfm.Observation{Objects: seen}, "DELETED"},
		"imported and missing":         {vnfm.StatusInstantiated, 0, vnfm.Observation{Objects: seen}, "DELETED"},
		"missing after a failure":      {vnfm.StatusFailedTemp, 2, vnfm.Observation{Objects: seen}, "DELETED"},
		"never complete":               {vnfm.StatusFailedTemp, 0, vnfm.Observation{Objects: seen}, "FAILED_TEMP"},
		"not observed":                 {vnfm.StatusInstantiated, 1, vnfm.Observation{}, "READY"},
		"being deleted":                {vnfm.StatusInstantiated, 1, vnfm.Observation{Objects: seen, Cluster: deleting}, "DELETING"},
		"being deleted, half-complete": {vnfm.StatusFailedTemp, 0, vnfm.Observation{Objects: seen, Cluster: deleting}, "DELETING"},
	} {
		m := &model{}
		m.Name = types.StringValue("edge")
		m.SetBase(&vnfm.Instance{Name: "edge", Status: c.record, Generation: c.generation, Cluster: &vnfm.ClusterSpec{}})
		var diags diag.Diagnostics
		m.setGone(&c.observation, &diags)
		require.Equal(t, c.want, m.Status.ValueString(), name)
		if c.want != "DELETING" {
			require.Empty(t, diags, name)
			continue
		}
		require.Len(t, diags, 1, name)
		require.Equal(t, `Workload Cluster "edge" Is Being Deleted`, diags[0].Summary())
		require.Contains(t, diags[0].Detail(), "since 2026-01-02T03:04:05Z and has the finalizers cluster.cluster.x-k8s.io, example.org/hold. "+
			"Cluster API says: WaitingForInfrastructureDeletion: * DevCluster edge still exists.")
	}
}

// TestWarnOfTopology: a class that requires another variable is named with the words of Cluster API.
func TestWarnOfTopology(t *testing.T) {
	t.Parallel()
	m, failed := &model{}, vnfm.Condition{
		Type: "TopologyReconciled", Status: "False", Reason: "ReconcileFailed",
		Message: "Cluster.cluster.x-k8s.io \"edge\" is invalid: spec.topology.variables:\n required variable \"zone\" must be set",
	}
	m.Name = types.StringValue("edge")
	var diags diag.Diagnostics
	m.warnOfTopology(nil, &diags)
	m.warnOfTopology(&vnfm.ClusterState{Conditions: []vnfm.Condition{{Type: failed.Type, Status: "False", Reason: "MachineDeploymentsUpgradePending"}}}, &diags)
	require.Empty(t, diags)
	m.warnOfTopology(&vnfm.ClusterState{Conditions: []vnfm.Condition{failed}}, &diags)
	require.Len(t, diags, 1)
	require.Equal(t, `Topology of Workload Cluster "edge" Is Not Reconciled`, diags[0].Summary())
	require.Equal(t, `What its ClusterClass describes no longer reaches the cluster. Cluster API says: Cluster.cluster.x-k8s.io "edge" is invalid: `+
		`spec.topology.variables: required variable "zone" must be set.`, diags[0].Detail())
}

// TestPlannedKubeconfigRef: the reference stays in a plan that changes the cluster, unless there is
// no kubeconfig or the plan makes the cluster again.
func TestPlannedKubeconfigRef(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		ca     types.String
		known  bool
	}{
		"ready":         {"READY", types.StringValue("pem"), true},
		"half-way":      {"FAILED_TEMP", types.StringValue("pem"), true},
		"no kubeconfig": {"READY", types.StringNull(), false},
		"deleting":      {"DELETING", types.StringValue("pem"), false},
		"deleted":       {"DELETED", types.StringValue("pem"), false},
	} {
		state := &model{}
		state.Status, state.CACertificate = types.StringValue(c.status), c.ca
		state.KubeconfigRef = attrs.ClusterRefValue(&vnfm.ClusterRef{VIMID: "vim", Namespace: "edges", Name: "edge"})
		plan := *state
		var diags diag.Diagnostics
		plan.PlanProgress(t.Context(), state, true, &diags)
		require.Empty(t, diags, name)
		require.Equal(t, c.known, !plan.KubeconfigRef.IsUnknown(), name)
		require.Equal(t, c.known, !plan.CACertificate.IsUnknown(), name)
		plan.PlanProgress(t.Context(), state, false, &diags)
		require.Equal(t, state.KubeconfigRef, plan.KubeconfigRef, name)
	}
}
