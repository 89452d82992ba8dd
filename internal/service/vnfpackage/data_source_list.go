package vnfpackage

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListDataSource returns the data source vnf_packages.
func NewListDataSource() datasource.DataSource {
	return &base.List[vnfm.Package, listedModel]{
		DataSource: base.DataSource{Type: "vnf_packages"},
		Description: "Lists the onboarded VNF packages of the store that match all given filters, with the data of their VNFDs. " +
			"Each version of a package is an element of its own.",
		Title: "VNF Packages",
		Filters: map[string]schema.StringAttribute{
			"name":    base.Filter("Only versions of the package of this name."),
			"vnfd_id": base.Filter("Only packages whose VNFD has this id (`descriptor_id`)."),
		},
		Name: "packages", NameDescription: "Packages in the order in which they were onboarded.",
		Elements: listedAttributes,
		Find:     findAll,
		Element: func(_ context.Context, _ vnfm.Manager, p *vnfm.Package, _ *diag.Diagnostics) listedModel {
			return listedOf(p)
		},
	}
}

func findAll(ctx context.Context, manager vnfm.Manager, filter map[string]string) ([]vnfm.Package, error) {
	return manager.Packages(ctx, vnfm.PackageFilter{Name: filter["name"], VNFDID: filter["vnfd_id"]})
}

// listedModel is a version of a package as a list shows it.
type listedModel struct {
	Name        types.String      `tfsdk:"name"`
	OnboardedAt timetypes.RFC3339 `tfsdk:"onboarded_at"`
	Superseded  types.Bool        `tfsdk:"superseded"`
	detailed
}

func listedAttributes() map[string]schema.Attribute {
	all := tfutil.ComputedAttributes(detailedAttributes())
	all["name"] = schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the package, the same for all its versions."}
	all["onboarded_at"] = onboardedAttribute()
	all["superseded"] = schema.BoolAttribute{
		Computed:            true,
		MarkdownDescription: "Whether no resource has this version any more. It is removed as soon as nothing uses it.",
	}
	return all
}

func listedOf(p *vnfm.Package) listedModel {
	return listedModel{
		Name: types.StringValue(p.Name), OnboardedAt: tfutil.Instant(p.OnboardedAt), Superseded: types.BoolValue(p.Superseded), detailed: detail(p),
	}
}
