package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	_ datasource.DataSourceWithConfigure      = (*DataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*DataSource)(nil)
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
		MarkdownDescription: "Reads a VNF instance with its current VNFCs. Set `id`, or `vim_id` and `name`, with `namespace` where the VIM has several instances of that name.",
		Attributes:          viewAttributes("id", "vim_id", "namespace", "name"),
	}
}

// ValidateConfig implements datasource.DataSourceWithValidateConfig.
func (d *DataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var config view
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	// An unknown value may become null. Terraform validates again once it is known.
	byName := tfutil.Set(config.VIMID) || tfutil.Set(config.Namespace) || tfutil.Set(config.Name)
	switch {
	case tfutil.Set(config.ID) && byName:
		resp.Diagnostics.AddAttributeError(path.Root("id"), "Conflicting Lookup Arguments", "Set either id, or vim_id and name, and namespace where the name is not unique.")
	case config.ID.IsNull() && (config.VIMID.IsNull() || config.Name.IsNull()):
		resp.Diagnostics.AddError("Missing Lookup Arguments", "Set either id, or vim_id and name, and namespace where the name is not unique.")
	}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config view
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	instance, err := find(ctx, manager, config)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Find", "VNF Instance", err, path.Empty())
		return
	}
	if instance.Kind() != vnfm.NetworkFunction {
		resp.Diagnostics.AddAttributeError(path.Root("id"), "Not a VNF Instance",
			fmt.Sprintf("The id %q is that of the workload cluster %q. Read it with the data source vnf_capi_workload_cluster.", instance.ID, instance.Name))
		return
	}
	v, err := newView(ctx, manager, instance)
	switch {
	case errors.Is(err, vnfm.ErrUnopened):
		// An error would stop the plan that registers the VIM again.
		resp.Diagnostics.AddWarning(fmt.Sprintf("VNFCs of VNF Instance %q Cannot Be Read", instance.Name),
			tfutil.ErrorDetail(err)+"\n\nThe data source shows what the record has, and no VNFCs.")
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Read the VNFCs of", fmt.Sprintf("VNF Instance %q", instance.Name), err, path.Empty())
		return
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &v)...)
}

// find returns the instance of an id, or that of a name on a VIM. Without a namespace, which instances on OpenStack never have,
// the name must be unique on the VIM.
func find(ctx context.Context, m vnfm.InstanceManager, config view) (*vnfm.Instance, error) {
	if !config.ID.IsNull() {
		return m.Instance(ctx, config.ID.ValueString())
	}
	vimID, name := config.VIMID.ValueString(), config.Name.ValueString()
	found, err := m.Instances(ctx, vnfm.InstanceFilter{Kind: vnfm.NetworkFunction, VIMID: vimID, Namespace: config.Namespace.ValueString(), Name: name})
	if err != nil {
		return nil, err
	}
	// The filter also selects instances that have only a part on the VIM.
	found = slices.DeleteFunc(found, func(i vnfm.Instance) bool { return i.VIMID != vimID })
	switch len(found) {
	case 0:
		return nil, &vnfm.NotFoundError{Kind: "VNF instance", ID: vimID + "/" + name}
	case 1:
		return &found[0], nil
	}
	namespaces := make([]string, 0, len(found))
	for i := range found {
		namespaces = append(namespaces, found[i].Namespace)
	}
	return nil, fmt.Errorf("VIM %q has %d VNF instances of the name %q, in the namespaces %s: set namespace", vimID, len(found), name, vnfm.QuotedNames(namespaces))
}

// NewListDataSource returns the data source vnf_instances.
func NewListDataSource() datasource.DataSource {
	return &base.List[vnfm.Instance, view]{
		DataSource:  base.DataSource{Type: "vnf_instances"},
		Description: "Lists the VNF instances of the store that match all given filters, with their current VNFCs. Workload clusters of Cluster API are listed by `vnf_capi_workload_clusters`.",
		Title:       "VNF Instances",
		Filters: map[string]schema.StringAttribute{
			"vim_id":     base.Filter("Only instances on this VIM."),
			"namespace":  base.Filter("Only instances in this namespace."),
			"package_id": base.Filter("Only instances that run this package."),
			"name":       base.Filter("Only instances of this name."),
		},
		Name: "instances", NameDescription: "The instances in the order of their creation.",
		Elements: func() map[string]schema.Attribute { return viewAttributes() },
		Find:     findInstances,
		Element:  listedView,
	}
}

func findInstances(ctx context.Context, manager vnfm.Manager, filter map[string]string) ([]vnfm.Instance, error) {
	return manager.Instances(ctx, vnfm.InstanceFilter{
		Kind: vnfm.NetworkFunction, VIMID: filter["vim_id"], Namespace: filter["namespace"], PackageID: filter["package_id"], Name: filter["name"],
	})
}

// listedView shows an instance whose VNFCs cannot be read without them, with a warning: one VIM
// that is down must not hide the others.
func listedView(ctx context.Context, manager vnfm.Manager, i *vnfm.Instance, diags *diag.Diagnostics) view {
	v, err := newView(ctx, manager, i)
	if err != nil {
		diags.AddWarning(fmt.Sprintf("VNFCs of VNF Instance %q Unknown", i.Name), tfutil.ErrorDetail(err))
	}
	return v
}
