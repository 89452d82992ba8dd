package vim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// DataSource implements the data source vnf_vim.
type DataSource struct{ base.DataSource }

// NewDataSource returns the data source vnf_vim.
func NewDataSource() datasource.DataSource {
	return &DataSource{base.DataSource{Type: ResourceType}}
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	computed := tfutil.ComputedAttributes(attributes(), secretNames()...)
	computed["id"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		MarkdownDescription: "Id of the VIM. Exactly one of `id` and `name` is set.",
		Validators: []validator.String{
			stringvalidator.LengthAtLeast(1),
			stringvalidator.ExactlyOneOf(path.MatchRoot("name")),
		},
	}
	computed["name"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		MarkdownDescription: "Name of the VIM. Exactly one of `id` and `name` is set; a name that several VIMs have is an error.",
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a VIM from the store and asks the VIM itself for its state. It never returns credentials.",
		Attributes:          computed,
	}
}

// secretNames are the attributes of a connection that a data source does not have.
func secretNames() []string {
	var names []string
	for _, s := range slices.Concat(attrs.KubernetesSecrets(), attrs.OpenStackSecrets()) {
		names = append(names, s.Name, s.Name+tfutil.WriteOnlySuffix, s.Name+tfutil.WriteOnlyVersionSuffix)
	}
	return names
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config commonModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	v, err := lookup(ctx, manager, config.ID.ValueString(), config.Name.ValueString())
	switch {
	case errors.Is(err, vnfm.ErrNotFound):
		resp.Diagnostics.AddError("VIM Not Found",
			fmt.Sprintf("No VIM in the store of this provider configuration has the %s %q. A vnf_vim resource registers one.", base.LookedUp(config.ID), config.ID.ValueString()+config.Name.ValueString()))
		return
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Read", object(config.ID.ValueString()+config.Name.ValueString()), err, path.Empty())
		return
	}
	live, diags := look(ctx, manager, v.ID, "")
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if live == nil {
		live = v
	}
	resp.Diagnostics.Append(config.fromRecord(ctx, live)...)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &config)...)
}

func lookup(ctx context.Context, manager vnfm.VIMManager, id, name string) (*vnfm.VIM, error) {
	if id != "" {
		return manager.VIM(ctx, id)
	}
	return manager.VIMByName(ctx, name)
}

// withoutSecrets are the types of a connection of the data source, given those of the
// resource.
func withoutSecrets(all map[string]attr.Type) map[string]attr.Type {
	for _, name := range secretNames() {
		delete(all, name)
	}
	return all
}

// fromRecord fills the model of the data source.
func (m *commonModel) fromRecord(ctx context.Context, v *vnfm.VIM) diag.Diagnostics {
	m.setRecord(v)
	connectionTypes := withoutSecrets(kubernetesTypes())
	m.Kubernetes = types.ObjectNull(connectionTypes)
	openstackTypes := withoutSecrets(openstackTypes())
	m.OpenStack = openstackValue(v.OpenStack, types.ObjectNull(openstackTypes), openstackTypes)
	if v.Kubernetes == nil {
		return nil
	}
	var diags diag.Diagnostics
	m.Kubernetes, diags = types.ObjectValueFrom(ctx, connectionTypes, connectionOf(v.Kubernetes, types.ObjectNull(nil)))
	return diags
}
