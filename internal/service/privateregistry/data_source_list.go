package privateregistry

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListDataSource returns the data source vnf_private_registries.
func NewListDataSource() datasource.DataSource {
	return &base.List[vnfm.Registry, recordModel]{
		DataSource: base.DataSource{Type: "vnf_private_registries"},
		Description: "Lists the private registries of the store that match all given filters, without their secrets. It reads records only: image and versions are those of the last installation. " +
			"Whether a registry answers now is the `status` of the data source `vnf_private_registry`.",
		Title: "Private Registries",
		Filters: map[string]schema.StringAttribute{
			"name":        base.Filter("Only registries of this name."),
			"instance_id": base.Filter("Only registries on a server of the `vnf_instance` of this id."),
		},
		Name: "private_registries", NameDescription: "Private registries in the order of their creation.",
		Elements: recordAttributes,
		Find:     findAll,
		Element: func(ctx context.Context, _ vnfm.Manager, r *vnfm.Registry, diags *diag.Diagnostics) recordModel {
			return readModelOf(ctx, r, diags).recordModel
		},
	}
}

func findAll(ctx context.Context, manager vnfm.Manager, filter map[string]string) ([]vnfm.Registry, error) {
	return manager.Registries(ctx, vnfm.RegistryFilter{Name: filter["name"], InstanceID: filter["instance_id"]})
}
