package workloadcluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// DataSource is the data source vnf_capi_workload_cluster.
type DataSource struct{ base.DataSource }

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource {
	return &DataSource{base.DataSource{Type: ResourceType}}
}

// clusterView is a workload cluster as the data source shows it.
type clusterView struct {
	observed

	ManagementVIMID types.String  `tfsdk:"management_vim_id"`
	Namespace       types.String  `tfsdk:"namespace"`
	Name            types.String  `tfsdk:"name"`
	Paused          types.Bool    `tfsdk:"paused"`
	KubeconfigRef   types.Object  `tfsdk:"kubeconfig_ref"`
	Machines        []machineView `tfsdk:"machines"`
}

// machineView is one machine as the data source shows it.
type machineView struct {
	Name          types.String      `tfsdk:"name"`
	NodeGroupName types.String      `tfsdk:"node_group_name"`
	NodeName      types.String      `tfsdk:"node_name"`
	Addresses     types.List        `tfsdk:"addresses"`
	Phase         types.String      `tfsdk:"phase"`
	Ready         types.Bool        `tfsdk:"ready"`
	Message       types.String      `tfsdk:"message"`
	CreatedAt     timetypes.RFC3339 `tfsdk:"created_at"`
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := tfutil.ComputedAttributes(computedAttributes())
	for _, name := range []string{"api_version", "generation"} {
		// These are of the record, which a cluster of somebody else does not have.
		delete(attributes, name)
	}
	for name, description := range map[string]string{
		managementVIM: "Id of the `vnf_vim` that is the management cluster.",
		"namespace":   "Namespace of the cluster on the management cluster.",
		"name":        "Name of the cluster.",
	} {
		attributes[name] = schema.StringAttribute{
			Required: true, MarkdownDescription: description, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}
	attributes["paused"] = schema.BoolAttribute{MarkdownDescription: "Whether Cluster API ignores the cluster.", Computed: true}
	attributes["machines"] = schema.ListNestedAttribute{
		MarkdownDescription: "Machines of the control plane and of the node groups.",
		Computed:            true,
		NestedObject:        schema.NestedAttributeObject{Attributes: machineViewAttributes()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a workload cluster of Cluster API from its management cluster, also a cluster of another configuration or tool. Without such a cluster its values are null or empty. It holds no secret: read the kubeconfig with the ephemeral resource `vnf_capi_workload_kubeconfig`.",
		Attributes:          attributes,
	}
}

func machineViewAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"name":            text("Name of the Machine."),
		"node_group_name": text("Name of the node group of the machine; `control-plane` for a machine of the control plane."),
		"node_name":       text("Name of the node of the machine."),
		"addresses":       schema.ListAttribute{MarkdownDescription: "Addresses of the machine.", ElementType: types.StringType, Computed: true},
		"phase":           text("Phase of the Machine, for example `Provisioning` or `Running`."),
		"ready":           schema.BoolAttribute{MarkdownDescription: "Whether the machine is ready.", Computed: true},
		"message":         text("Message of Cluster API about a machine that is not ready."),
		"created_at":      schema.StringAttribute{MarkdownDescription: "Time of creation (RFC 3339, UTC).", Computed: true, CustomType: timetypes.RFC3339Type{}},
	}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var v clusterView
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &v)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ref := vnfm.ClusterRef{VIMID: v.ManagementVIMID.ValueString(), Namespace: v.Namespace.ValueString(), Name: v.Name.ValueString()}
	s, machines, err := manager.WorkloadCluster(ctx, ref)
	var missing *vnfm.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.ID != ref.VIMID:
		// An error would stop the destroy of a cluster whose deletion was interrupted.
		resp.Diagnostics.AddWarning("Workload Cluster Not Found",
			fmt.Sprintf("The management cluster has no Cluster %q in namespace %q, so that its values are null or empty. If it should exist, check the names, and that management_vim_id is the management cluster.", ref.Name, ref.Namespace))
		s = &vnfm.ClusterState{}
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Read", titled(ref.Name), err, path.Empty())
		return
	}
	warnOfExpiries(ref.Name, s, &resp.Diagnostics)
	warnOfKubelets(ref.Name, s, &resp.Diagnostics)
	warnOfDeletion(ref.Name, s, &resp.Diagnostics)
	v.observed, v.Paused = newObserved(s), types.BoolValue(s.Paused)
	v.KubeconfigRef = types.ObjectNull(attrs.ClusterRefType.AttrTypes)
	if s.CACertificate != "" {
		v.KubeconfigRef = attrs.ClusterRefValue(&ref)
	}
	v.Machines = make([]machineView, 0, len(machines))
	for i := range machines {
		v.Machines = append(v.Machines, newMachineView(&machines[i]))
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &v)...)
}

func newMachineView(m *vnfm.VNFC) machineView {
	return machineView{
		Name: types.StringValue(m.ID), NodeGroupName: types.StringValue(m.VDUID), NodeName: tfutil.OptionalString(m.Node),
		Addresses: tfutil.StringList(m.Addresses), Phase: tfutil.OptionalString(m.State), Ready: types.BoolValue(m.Ready),
		Message: tfutil.OptionalString(m.Message), CreatedAt: tfutil.Instant(m.CreatedAt),
	}
}
