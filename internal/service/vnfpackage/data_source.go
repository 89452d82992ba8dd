package vnfpackage

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

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// DataSource implements the data source vnf_package.
type DataSource struct{ base.DataSource }

// NewDataSource returns the data source vnf_package.
func NewDataSource() datasource.DataSource {
	return &DataSource{base.DataSource{Type: ResourceType}}
}

type dataSourceModel struct {
	Name        types.String      `tfsdk:"name"`
	OnboardedAt timetypes.RFC3339 `tfsdk:"onboarded_at"`
	detailed
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := tfutil.ComputedAttributes(detailedAttributes())
	attributes["id"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		MarkdownDescription: "Id of a version of the package, `<name>@<digest>`. Exactly one of `id` and `name` is set.",
		Validators: []validator.String{
			stringvalidator.LengthAtLeast(1),
			stringvalidator.ExactlyOneOf(path.MatchRoot("name")),
		},
	}
	attributes["name"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		MarkdownDescription: "Name of the package; the version that was onboarded last is read. Exactly one of `id` and `name` is set.",
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["onboarded_at"] = onboardedAttribute()
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an onboarded VNF package with the data of its VNFD.",
		Attributes:          attributes,
	}
}

func onboardedAttribute() schema.Attribute {
	return schema.StringAttribute{Computed: true, CustomType: timetypes.RFC3339Type{}, MarkdownDescription: "Time when this version was onboarded (RFC 3339, UTC)."}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m dataSourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &m)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	p, err := lookup(ctx, manager, m.ID.ValueString(), m.Name.ValueString())
	wanted := m.ID.ValueString() + m.Name.ValueString()
	switch {
	case errors.Is(err, vnfm.ErrNotFound):
		resp.Diagnostics.AddError("VNF Package Not Found",
			fmt.Sprintf("No VNF package in the store of this provider configuration has the %s %q. A vnf_package resource onboards one.", base.LookedUp(m.ID), wanted))
		return
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Read", object(wanted), err, path.Empty())
		return
	}
	m.Name = types.StringValue(p.Name)
	m.OnboardedAt = tfutil.Instant(p.OnboardedAt)
	m.detailed = detail(p)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &m)...)
}

func lookup(ctx context.Context, manager vnfm.PackageManager, id, name string) (*vnfm.Package, error) {
	if id != "" {
		return manager.Package(ctx, id)
	}
	return manager.PackageByName(ctx, name)
}
