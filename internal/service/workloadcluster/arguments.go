package workloadcluster

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The nested arguments as Terraform has them. A nested struct is decoded once everything
// inside is known; what is read earlier is a types.Object.

type topologyModel struct {
	Class          types.String `tfsdk:"class"`
	ClassNamespace types.String `tfsdk:"class_namespace"`
	ClassVariables types.String `tfsdk:"class_variables"`
}

type chartModel struct {
	chartsource.Model
	Values     types.List   `tfsdk:"values"`
	Regenerate types.Object `tfsdk:"regenerate"`
}

type clusterctlTemplateModel struct {
	Content   types.String `tfsdk:"content"`
	Variables types.Map    `tfsdk:"variables"`
}

type networkModel struct {
	PodCIDRs       types.List          `tfsdk:"pod_cidrs"`
	ServiceCIDRs   types.List          `tfsdk:"service_cidrs"`
	ServiceDomain  types.String        `tfsdk:"service_domain"`
	APIServerPort  types.Int64         `tfsdk:"api_server_port"`
	Internal       *cloudResourceModel `tfsdk:"internal"`
	InternalSubnet *cloudResourceModel `tfsdk:"internal_subnet"`
	External       *cloudResourceModel `tfsdk:"external"`
}

// cloudResourceModel is what foundAttributes describes.
type cloudResourceModel struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	Tags types.Set    `tfsdk:"tags"`
}

// machineModel has the arguments that control plane and node groups share.
type machineModel struct {
	Flavor      types.String           `tfsdk:"flavor"`
	Labels      types.Map              `tfsdk:"labels"`
	Annotations types.Map              `tfsdk:"annotations"`
	HealthCheck *healthCheckModel      `tfsdk:"health_check"`
	Deletion    *deletionModel         `tfsdk:"deletion"`
	RootVolume  *rootVolumeModel       `tfsdk:"root_volume"`
	Networks    []*machineNetworkModel `tfsdk:"networks"`
}

type controlPlaneModel struct {
	machineModel
	Replicas       types.Int64  `tfsdk:"replicas"`
	ClassVariables types.String `tfsdk:"class_variables"`
	FailureDomains types.Set    `tfsdk:"failure_domains"`
}

type nodeGroupModel struct {
	machineModel
	Class               types.String  `tfsdk:"class"`
	Replicas            types.Int64   `tfsdk:"replicas"`
	MinReplicas         types.Int64   `tfsdk:"min_replicas"`
	MaxReplicas         types.Int64   `tfsdk:"max_replicas"`
	FailureDomain       types.String  `tfsdk:"failure_domain"`
	Taints              []*taintModel `tfsdk:"taints"`
	ClassVariables      types.String  `tfsdk:"class_variables"`
	Rollout             *rolloutModel `tfsdk:"rollout"`
	ScaleInMachineNames types.Set     `tfsdk:"scale_in_machine_names"`
}

type healthCheckModel struct {
	Enabled            types.Bool           `tfsdk:"enabled"`
	NodeStartupTimeout timetypes.GoDuration `tfsdk:"node_startup_timeout"`
	UnhealthyTimeout   timetypes.GoDuration `tfsdk:"unhealthy_timeout"`
	MaxUnhealthy       types.String         `tfsdk:"max_unhealthy"`
}

type deletionModel struct {
	NodeDrainTimeout        timetypes.GoDuration `tfsdk:"node_drain_timeout"`
	NodeVolumeDetachTimeout timetypes.GoDuration `tfsdk:"node_volume_detach_timeout"`
	NodeDeletionTimeout     timetypes.GoDuration `tfsdk:"node_deletion_timeout"`
}

type rootVolumeModel struct {
	Size             types.Int64  `tfsdk:"size"`
	Type             types.String `tfsdk:"type"`
	AvailabilityZone types.String `tfsdk:"availability_zone"`
}

type machineNetworkModel struct {
	cloudResourceModel
	Subnet *cloudResourceModel `tfsdk:"subnet"`
}

type taintModel struct {
	Key         types.String `tfsdk:"key"`
	Value       types.String `tfsdk:"value"`
	Effect      types.String `tfsdk:"effect"`
	Propagation types.String `tfsdk:"propagation"`
}

type rolloutModel struct {
	Type           types.String `tfsdk:"type"`
	MaxSurge       types.String `tfsdk:"max_surge"`
	MaxUnavailable types.String `tfsdk:"max_unavailable"`
}

type healModel struct {
	Trigger      types.String `tfsdk:"trigger"`
	Cause        types.String `tfsdk:"cause"`
	MachineNames types.Set    `tfsdk:"machine_names"`
}

func (m *topologyModel) toDomain(diags *diag.Diagnostics) *vnfm.ClusterTopology {
	if m == nil {
		return nil
	}
	return &vnfm.ClusterTopology{
		Class: m.Class.ValueString(), ClassNamespace: m.ClassNamespace.ValueString(),
		Variables: attrs.Document(path.Root("topology").AtName("class_variables"), m.ClassVariables, diags),
	}
}

// toDomain returns the chart of the cluster; status is the chart that its source was
// resolved to.
func (m *chartModel) toDomain(status *chartStatusModel, diags *diag.Diagnostics) *vnfm.ClusterChart {
	if m == nil {
		return nil
	}
	chart := &vnfm.ClusterChart{ChartSource: m.ToDomain(), Values: attrs.Documents(path.Root("chart").AtName("values"), m.Values, diags)}
	chart.Chart = status.toDomain()
	return chart
}

func (m *clusterctlTemplateModel) toDomain() *vnfm.ClusterTemplate {
	if m == nil {
		return nil
	}
	return &vnfm.ClusterTemplate{Content: m.Content.ValueString(), Variables: tfutil.Texts(m.Variables)}
}

func (m *networkModel) toDomain() *vnfm.ClusterNetwork {
	if m == nil {
		return nil
	}
	return &vnfm.ClusterNetwork{
		PodCIDRs: tfutil.Strings(m.PodCIDRs), ServiceCIDRs: tfutil.Strings(m.ServiceCIDRs), ServiceDomain: m.ServiceDomain.ValueString(),
		APIServerPort: int(m.APIServerPort.ValueInt64()), Internal: m.Internal.toDomain(), Subnet: m.InternalSubnet.toDomain(), External: m.External.toDomain(),
	}
}

func (m *cloudResourceModel) toDomain() *vnfm.CloudResource {
	if m == nil {
		return nil
	}
	return &vnfm.CloudResource{ID: m.ID.ValueString(), Name: m.Name.ValueString(), Tags: tfutil.Strings(m.Tags)}
}

// place returns the volume and the networks of the machines.
func (m *machineModel) place() vnfm.MachinePlace {
	var p vnfm.MachinePlace
	if v := m.RootVolume; v != nil {
		p.RootVolume = &vnfm.RootVolume{SizeGiB: v.Size.ValueInt64(), Type: v.Type.ValueString(), AvailabilityZone: v.AvailabilityZone.ValueString()}
	}
	for _, n := range m.Networks {
		n = cmp.Or(n, &machineNetworkModel{})
		p.Networks = append(p.Networks, vnfm.MachineNetwork{CloudResource: *n.toDomain(), Subnet: n.Subnet.toDomain()})
	}
	return p
}

func (m *healthCheckModel) toDomain() *vnfm.HealthCheck {
	if m == nil {
		return nil
	}
	return &vnfm.HealthCheck{
		Enabled: m.Enabled.ValueBool(), NodeStartupTimeout: tfutil.GoDuration(m.NodeStartupTimeout),
		UnhealthyTimeout: tfutil.GoDuration(m.UnhealthyTimeout), MaxUnhealthy: m.MaxUnhealthy.ValueString(),
	}
}

func (m *deletionModel) toDomain() *vnfm.MachineDeletion {
	if m == nil {
		return nil
	}
	return &vnfm.MachineDeletion{
		NodeDrainTimeout: tfutil.GoDurationPointer(m.NodeDrainTimeout), NodeVolumeDetachTimeout: tfutil.GoDurationPointer(m.NodeVolumeDetachTimeout),
		NodeDeletionTimeout: tfutil.GoDurationPointer(m.NodeDeletionTimeout),
	}
}

func (m *controlPlaneModel) toDomain(diags *diag.Diagnostics) vnfm.ClusterControlPlane {
	if m == nil {
		return vnfm.ClusterControlPlane{}
	}
	return vnfm.ClusterControlPlane{
		Replicas: tfutil.Int64Pointer(m.Replicas), Flavor: m.Flavor.ValueString(), Labels: tfutil.Texts(m.Labels), Annotations: tfutil.Texts(m.Annotations),
		Variables:   attrs.Document(path.Root("control_plane").AtName("class_variables"), m.ClassVariables, diags),
		HealthCheck: m.HealthCheck.toDomain(), Deletion: m.Deletion.toDomain(),
		FailureDomains: tfutil.Strings(m.FailureDomains), MachinePlace: m.place(),
	}
}

// nodeGroups reads the argument of that name, all of which is known.
func (m *model) nodeGroups(ctx context.Context, diags *diag.Diagnostics) map[string]vnfm.NodeGroup {
	if len(m.NodeGroups.Elements()) == 0 {
		return nil
	}
	out := map[string]vnfm.NodeGroup{}
	for name := range m.NodeGroups.Elements() {
		group := cmp.Or(tfutil.ElementAs[nodeGroupModel](ctx, m.NodeGroups, name, diags), &nodeGroupModel{})
		out[name] = group.toDomain(name, diags)
	}
	return out
}

func (m *nodeGroupModel) toDomain(name string, diags *diag.Diagnostics) vnfm.NodeGroup {
	g := vnfm.NodeGroup{
		Class: m.Class.ValueString(), Replicas: tfutil.Int64Pointer(m.Replicas), MinReplicas: tfutil.Int64Pointer(m.MinReplicas), MaxReplicas: tfutil.Int64Pointer(m.MaxReplicas),
		Flavor: m.Flavor.ValueString(), Labels: tfutil.Texts(m.Labels), Annotations: tfutil.Texts(m.Annotations), FailureDomain: m.FailureDomain.ValueString(),
		Variables:   attrs.Document(path.Root("node_groups").AtMapKey(name).AtName("class_variables"), m.ClassVariables, diags),
		HealthCheck: m.HealthCheck.toDomain(), Deletion: m.Deletion.toDomain(), ScaleInMachineNames: tfutil.Strings(m.ScaleInMachineNames),
		MachinePlace: m.place(),
	}
	if r := m.Rollout; r != nil {
		g.Rollout = &vnfm.NodeRollout{Type: r.Type.ValueString(), MaxSurge: r.MaxSurge.ValueString(), MaxUnavailable: r.MaxUnavailable.ValueString()}
	}
	for _, t := range m.Taints {
		t = cmp.Or(t, &taintModel{})
		g.Taints = append(g.Taints, vnfm.NodeTaint{
			Key: t.Key.ValueString(), Value: t.Value.ValueString(), Effect: t.Effect.ValueString(), Propagation: t.Propagation.ValueString(),
		})
	}
	return g
}

// healSpec reads the argument heal; nil while it is not known.
func (m *model) healSpec(ctx context.Context, diags *diag.Diagnostics) *vnfm.HealSpec {
	heal := tfutil.KnownAs[healModel](ctx, m.Heal, diags)
	if heal == nil {
		return nil
	}
	return &vnfm.HealSpec{Trigger: heal.Trigger.ValueString(), Cause: heal.Cause.ValueString(), VNFCIDs: tfutil.Strings(heal.MachineNames)}
}
