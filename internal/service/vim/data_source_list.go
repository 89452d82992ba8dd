package vim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListDataSource returns the data source vnf_vims.
func NewListDataSource() datasource.DataSource {
	return &base.List[vnfm.VIM, listedModel]{
		DataSource: base.DataSource{Type: "vnf_vims"},
		Description: "Lists the VIMs of the store that match all given filters. It reads records only: versions, API groups and services are those of the registration or last update. " +
			"Whether a VIM answers now is the `status` of the data source `vnf_vim`.",
		Title: "VIMs",
		Filters: map[string]schema.StringAttribute{
			"name": base.Filter("Only VIMs of this name."),
			"type": base.Filter("Only VIMs of this type: `kubernetes` or `openstack`.", typeRule),
		},
		Name: "vims", NameDescription: "VIMs in the order of their registration.",
		Elements: listedAttributes,
		Find:     findAll,
		Element: func(_ context.Context, _ vnfm.Manager, v *vnfm.VIM, _ *diag.Diagnostics) listedModel {
			return listedOf(v)
		},
	}
}

// typeRule is the rule of the filter of that name.
var typeRule = stringvalidator.OneOf(string(vnfm.VIMTypeKubernetes), string(vnfm.VIMTypeOpenStack))

func findAll(ctx context.Context, manager vnfm.Manager, filter map[string]string) ([]vnfm.VIM, error) {
	return manager.VIMs(ctx, vnfm.VIMFilter{Name: filter["name"], Type: vnfm.VIMType(filter["type"])})
}

// listedModel is a VIM as a list shows it: without its connection, and without a status, which
// only the VIM itself can tell.
type listedModel struct {
	ID          types.String      `tfsdk:"id"`
	Name        types.String      `tfsdk:"name"`
	Description types.String      `tfsdk:"description"`
	Type        types.String      `tfsdk:"type"`
	CreatedAt   timetypes.RFC3339 `tfsdk:"created_at"`
	facts
}

func listedAttributes() map[string]schema.Attribute {
	all := tfutil.ComputedAttributes(attributes(), string(vnfm.VIMTypeKubernetes), string(vnfm.VIMTypeOpenStack), "status")
	all["name"] = schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the VIM."}
	all["description"] = schema.StringAttribute{Computed: true, MarkdownDescription: "Description of the VIM."}
	return all
}

func listedOf(v *vnfm.VIM) listedModel {
	return listedModel{
		ID: types.StringValue(v.ID), Name: types.StringValue(v.Name), Description: tfutil.OptionalString(v.Description),
		Type: types.StringValue(string(v.Type)), CreatedAt: tfutil.Instant(v.CreatedAt), facts: observedOf(v).facts,
	}
}
