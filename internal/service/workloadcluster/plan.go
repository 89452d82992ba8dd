package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// PlanArguments implements base.Model.
func (m *model) PlanArguments(ctx context.Context, manager vnfm.Manager, config, state *model, resp *resource.ModifyPlanResponse) bool {
	m.Namespace = plannedNamespace(ctx, manager, m, config, state)
	m.APIVersion = types.StringUnknown()
	if state != nil && tfutil.Set(state.APIVersion) {
		m.APIVersion = state.APIVersion
	}
	checkUpgrade(ctx, m, state, &resp.Diagnostics)
	m.checkCredentialExpiry(ctx, state, &resp.Diagnostics)
	m.planCharts(ctx, manager, config, state, &resp.Diagnostics)
	return !m.Namespace.IsUnknown()
}

// plannedNamespace is the namespace that the user gave; else it stays, or is the
// default of the management cluster when that is registered.
func plannedNamespace(ctx context.Context, manager vnfm.VIMManager, plan, config, state *model) types.String {
	switch {
	case !config.Namespace.IsNull():
		return config.Namespace
	case state != nil && plan.ManagementVIMID.Equal(state.ManagementVIMID):
		return state.Namespace
	case manager != nil && tfutil.Set(plan.ManagementVIMID):
		if vim, err := manager.VIM(ctx, plan.ManagementVIMID.ValueString()); err == nil {
			return types.StringValue(vim.DefaultNamespace())
		}
	}
	return types.StringUnknown()
}

// SetPreview implements base.Model.
func (m *model) SetPreview(p *vnfm.Preview) { m.Objects = base.PlannedObjects(p) }

// SetPreviewUnknown implements base.Model: what a preview shows is in the private state.
func (*model) SetPreviewUnknown(*model) {}

// Differs implements base.Model.
func (m *model) Differs(ctx context.Context, state *model) bool {
	return rotatesKubeconfig(m, state) || !tfutil.SameButEmpty(ctx, m.ControlPlane, state.ControlPlane) || !tfutil.SameButEmpty(ctx, m.NodeGroups, state.NodeGroups) ||
		m.KubernetesVersion.IsUnknown() || m.KubernetesVersion.Number() != state.KubernetesVersion.Number() || !base.AllEqual([][2]attr.Value{
		{m.Name, state.Name}, {m.Paused, state.Paused},
		{m.AddonsStatus, state.AddonsStatus}, {m.ChartStatus, state.ChartStatus},
	})
}

// Tried implements base.Model.
func (*model) Tried(*model) []string { return nil }

// PlanProgress implements base.Model.
func (m *model) PlanProgress(ctx context.Context, state *model, runs bool, diags *diag.Diagnostics) {
	if !runs {
		m.observed, m.KubeconfigRef = state.observed, state.KubeconfigRef
		m.ApplicationCredentialID, m.ApplicationCredentialExpiresAt = state.ApplicationCredentialID, state.ApplicationCredentialExpiresAt
		return
	}
	m.setStatusUnknown(ctx, diags)
	m.ApplicationCredentialID, m.ApplicationCredentialExpiresAt = types.StringUnknown(), timetypes.NewRFC3339Unknown()
	m.observed, m.KubeconfigRef = unknownObserved(), types.ObjectUnknown(attrs.ClusterRefType.AttrTypes)
	if state != nil && tfutil.Set(state.KubeconfigRef) && tfutil.Set(state.CACertificate) && !state.IsGone() {
		// While there is a kubeconfig, what depends on it must not wait for what may be repaired
		// through it. Cluster API never changes the endpoint of a cluster, nor its certificate authority.
		m.KubeconfigRef, m.Endpoint, m.CACertificate = state.KubeconfigRef, state.Endpoint, state.CACertificate
	}
}
