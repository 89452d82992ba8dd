package workloadcluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// model is the resource as Terraform has it.
type model struct {
	base.InstanceModel
	observed
	charted

	ManagementVIMID   types.String  `tfsdk:"management_vim_id"`
	KubernetesVersion attrs.Version `tfsdk:"kubernetes_version"`

	Topology           types.Object `tfsdk:"topology"`
	Chart              types.Object `tfsdk:"chart"`
	ClusterctlTemplate types.Object `tfsdk:"clusterctl_template"`
	ClusterTemplate    types.Object `tfsdk:"cluster_template"`

	Labels          types.Map         `tfsdk:"labels"`
	Annotations     types.Map         `tfsdk:"annotations"`
	Network         types.Object      `tfsdk:"network"`
	ControlPlane    types.Object      `tfsdk:"control_plane"`
	NodeGroups      types.Map         `tfsdk:"node_groups"`
	Paused          types.Bool        `tfsdk:"paused"`
	RolloutAfter    timetypes.RFC3339 `tfsdk:"rollout_after"`
	RotationTrigger types.String      `tfsdk:"kubeconfig_rotation_trigger"`
	OpenStack       types.Object      `tfsdk:"openstack"`

	ApplicationCredentialID        types.String      `tfsdk:"application_credential_id"`
	ApplicationCredentialExpiresAt timetypes.RFC3339 `tfsdk:"application_credential_expires_at"`

	APIVersion    types.String `tfsdk:"api_version"`
	KubeconfigRef types.Object `tfsdk:"kubeconfig_ref"`
}

// VIM implements base.Model.
func (m *model) VIM() types.String { return m.ManagementVIMID }

// Spec implements base.Model.
func (m *model) Spec(ctx context.Context, state *model, diags *diag.Diagnostics) (vnfm.InstanceSpec, bool) {
	for _, v := range []attr.Value{
		m.ManagementVIMID, m.Name, m.KubernetesVersion, m.Topology, m.Chart, m.ClusterctlTemplate, m.ClusterTemplate, m.Addons, m.Labels, m.Annotations, m.Network,
		m.ControlPlane, m.NodeGroups, m.Paused, m.RolloutAfter, m.OnFailure, m.ForceConflicts, m.AdoptExisting, m.OpenStack,
	} {
		if !tfutil.FullyKnown(ctx, v) {
			return vnfm.InstanceSpec{}, false
		}
	}
	chart := tfutil.As[chartModel](ctx, m.Chart, diags)
	cluster := &vnfm.ClusterSpec{
		Name: m.Name.ValueString(), Namespace: m.Namespace.ValueString(), KubernetesVersion: m.KubernetesVersion.Number(),
		Labels: tfutil.Texts(m.Labels), Annotations: tfutil.Texts(m.Annotations), Paused: m.Paused.ValueBoolPointer(), RolloutAfter: instantText(m.RolloutAfter, diags),

		Topology: tfutil.As[topologyModel](ctx, m.Topology, diags).toDomain(diags),
		Chart:    chart.toDomain(tfutil.As[chartStatusModel](ctx, m.ChartStatus, diags), diags),
		Template: tfutil.As[clusterctlTemplateModel](ctx, m.ClusterctlTemplate, diags).toDomain(),

		Network:      tfutil.As[networkModel](ctx, m.Network, diags).toDomain(),
		ControlPlane: tfutil.As[controlPlaneModel](ctx, m.ControlPlane, diags).toDomain(diags),
		NodeGroups:   m.nodeGroups(ctx, diags),
	}
	if tfutil.Set(m.APIVersion) {
		cluster.APIVersion = m.APIVersion.ValueString()
	}
	if cluster.Template != nil && state != nil {
		cluster.Template.Known = slices.Collect(maps.Keys(state.Objects.Present()))
	}
	withoutDone(ctx, cluster.NodeGroups, state, diags)
	checkRemovals(ctx, cluster.NodeGroups, state, diags)
	cluster.OpenStack = m.openstack(ctx, cluster, diags)
	cluster.Addons = m.addons(ctx, cluster, diags)
	m.fromTemplate(ctx, cluster, diags)
	spec := m.BaseSpec(ctx, m.healSpec(ctx, diags), diags)
	spec.VIMID, spec.Cluster, spec.OperationalState = m.ManagementVIMID.ValueString(), cluster, vnfm.Started
	if chart != nil {
		spec.Regenerate = base.Regenerate(ctx, chart.Regenerate, diags)
	}
	if spec.Heal != nil && spec.Heal.EntireInstance() && tfutil.Set(m.RolloutAfter) {
		diags.AddAttributeError(path.Root("heal"), "Conflicting Rollout Settings",
			"A heal without machine_names replaces everything that is older than the operation, and rollout_after sets another time. Change rollout_after instead, or set machine_names.")
	}
	if state == nil || rotatesKubeconfig(m, state) {
		spec.RotationTrigger = m.RotationTrigger.ValueString()
	}
	return spec, true
}

// instantText is a time in UTC and in whole seconds, as Kubernetes keeps it; empty without one.
func instantText(v timetypes.RFC3339, diags *diag.Diagnostics) string {
	if !tfutil.Set(v) {
		return ""
	}
	at, more := v.ValueRFC3339Time()
	diags.Append(more...)
	return at.UTC().Format(time.RFC3339)
}

// Conceal implements base.Model: a cluster has no parameters, and Prepare adds its
// secrets.
func (m *model) Conceal(context.Context, *model, *vnfm.InstanceSpec, *diag.Diagnostics) []string {
	return nil
}

// Prepare implements base.Model.
func (m *model) Prepare(ctx context.Context, manager vnfm.Manager, _ string, config *model, spec *vnfm.InstanceSpec, diags *diag.Diagnostics) {
	m.prepareCharts(ctx, manager, config, spec.Cluster, diags)
	if spec.Namespace != "" {
		return
	}
	vim, err := manager.VIM(ctx, spec.VIMID)
	if err != nil {
		tfutil.AddError(diags, "Read the Management Cluster of", titled(spec.Name), err, path.Root(managementVIM))
		return
	}
	spec.Namespace = vim.DefaultNamespace()
	spec.Cluster.Namespace = spec.Namespace
}

// TerminateSpec implements base.Model.
func (m *model) TerminateSpec(context.Context, *diag.Diagnostics) vnfm.TerminateSpec {
	return vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesKeep}
}

// SetTermination implements base.Model.
func (m *model) SetTermination(*model) {}

// SetRecord implements base.Model.
func (m *model) SetRecord(_ context.Context, i *vnfm.Instance, _ *diag.Diagnostics) {
	m.SetBase(i)
	m.ManagementVIMID = types.StringValue(i.VIMID)
	m.setCredential(i)
	if i.Cluster != nil {
		m.APIVersion = tfutil.OptionalString(i.Cluster.APIVersion)
		m.recordCharts(i.Cluster)
	}
	if i.Status == vnfm.StatusInstantiated {
		m.KubeconfigRef = attrs.ClusterRefValue(&vnfm.ClusterRef{VIMID: i.VIMID, Namespace: i.Namespace, Name: i.Name})
	} else if m.KubeconfigRef.IsUnknown() {
		m.KubeconfigRef = types.ObjectNull(attrs.ClusterRefType.AttrTypes)
	}
}

// SetObservation implements base.Model.
func (m *model) SetObservation(ctx context.Context, o *vnfm.Observation, diags *diag.Diagnostics) {
	m.observed = newObserved(o.Cluster)
	m.setObservedStatus(ctx, m.Objects.Present(), diags)
	m.setCredentialExpiry(o.Cluster)
	m.setGone(o, diags)
	m.warnOfPause(o.Cluster, diags)
	m.warnOfTopology(o.Cluster, diags)
	if o.Cluster != nil {
		warnOfExpiries(m.Name.ValueString(), o.Cluster, diags)
		warnOfKubelets(m.Name.ValueString(), o.Cluster, diags)
	}
}

// Finish implements base.Model. Planned values stay: Terraform holds a provider
// to them, and the next refresh shows changes since, and attributes that could not be
// refreshed.
func (m *model) Finish(ctx context.Context, manager vnfm.Manager, i *vnfm.Instance, diags *diag.Diagnostics) {
	limit := time.Minute
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if !m.Phase.IsUnknown() {
		return
	}
	seen, err := manager.Observe(ctx, i.ID)
	if seen == nil {
		seen = &vnfm.Observation{}
	}
	planned := m.observed
	m.observed = newObserved(seen.Cluster)
	if tfutil.Set(planned.CACertificate) {
		m.Endpoint, m.CACertificate = planned.Endpoint, planned.CACertificate
	}
	m.setCredentialExpiry(seen.Cluster)
	if m.setObservedStatus(ctx, seen.Objects, diags); err != nil {
		m.mapStatus(ctx, diags, func(string) addonState { return addonState{status: addonUnknown} })
	}
}
