package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	_ datasource.DataSourceWithConfigure      = (*DataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*DataSource)(nil)
	_ datasource.DataSourceWithConfigure      = (*ListDataSource)(nil)
)

// DataSource is the data source vnf_instance.
type DataSource struct{ base.DataSource }

// NewDataSource returns the data source vnf_instance.
func NewDataSource() datasource.DataSource {
	return &DataSource{base.DataSource{Type: ResourceType}}
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "One VNF instance with its current VNFCs. Give `id`, or `vim_id`, `namespace` and `name`.",
		Attributes:          viewAttributes("id", "vim_id", "namespace", "name"),
	}
}

// ValidateConfig implements datasource.DataSourceWithValidateConfig.
func (d *DataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var config view
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	byName := !config.VIMID.IsNull() || !config.Namespace.IsNull() || !config.Name.IsNull()
	switch {
	case !config.ID.IsNull() && byName:
		resp.Diagnostics.AddAttributeError(path.Root("id"), "Two Ways to Find the Instance", "Give either id, or vim_id, namespace and name.")
	case config.ID.IsNull() && (config.VIMID.IsNull() || config.Namespace.IsNull() || config.Name.IsNull()):
		resp.Diagnostics.AddError("Instance Not Named", "Give either id, or all of vim_id, namespace and name.")
	}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config view
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	instance, err := find(ctx, manager, config)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Find", "VNF Instance", err, path.Empty())
		return
	}
	v, err := newView(ctx, manager, instance)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Read the VNFCs of", fmt.Sprintf("VNF Instance %q", instance.Name), err, path.Empty())
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &v)...)
}

func find(ctx context.Context, m vnfm.InstanceManager, config view) (*vnfm.Instance, error) {
	if !config.ID.IsNull() {
		return m.Instance(ctx, config.ID.ValueString())
	}
	return m.InstanceByName(ctx, config.VIMID.ValueString(), config.Namespace.ValueString(), config.Name.ValueString())
}

// ListDataSource is the data source vnf_instances.
type ListDataSource struct{ base.DataSource }

// NewListDataSource returns the data source vnf_instances.
func NewListDataSource() datasource.DataSource {
	return &ListDataSource{base.DataSource{Type: "vnf_instances"}}
}

// listModel is the data source vnf_instances as Terraform has it.
type listModel struct {
	VIMID     types.String `tfsdk:"vim_id"`
	Namespace types.String `tfsdk:"namespace"`
	PackageID types.String `tfsdk:"package_id"`
	Name      types.String `tfsdk:"name"`
	Instances []view       `tfsdk:"instances"`
}

// Schema implements datasource.DataSource.
func (d *ListDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	filter := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The VNF instances of the store that match all given filters, with their current VNFCs.",
		Attributes: map[string]schema.Attribute{
			"vim_id":     filter("Only instances on this VIM."),
			"namespace":  filter("Only instances in this namespace."),
			"package_id": filter("Only instances that run this package."),
			"name":       filter("Only instances of this name."),
			"instances": schema.ListNestedAttribute{
				MarkdownDescription: "The instances in the order of their creation.",
				Computed:            true,
				NestedObject:        schema.NestedAttributeObject{Attributes: viewAttributes()},
			},
		},
	}
}

// Read implements datasource.DataSource. An instance whose VNFCs cannot be read is
// shown without them, with a warning: one VIM that is down must not hide the others.
func (d *ListDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m listModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	instances, err := manager.Instances(ctx, vnfm.InstanceFilter{
		VIMID: m.VIMID.ValueString(), Namespace: m.Namespace.ValueString(),
		PackageID: m.PackageID.ValueString(), Name: m.Name.ValueString(),
	})
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "List", "VNF Instances", err, path.Empty())
		return
	}
	m.Instances = make([]view, 0, len(instances))
	for _, i := range instances {
		v, err := newView(ctx, manager, &i)
		if err != nil {
			resp.Diagnostics.AddWarning(fmt.Sprintf("VNFCs of VNF Instance %q Unknown", i.Name), tfutil.ErrorDetail(err))
		}
		m.Instances = append(m.Instances, v)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}
