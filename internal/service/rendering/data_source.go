// Package rendering is the data source that shows the objects of a VNF package.
package rendering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// DataSourceType is the name of the data source.
const DataSourceType = "vnf_rendering"

var (
	_ datasource.DataSourceWithConfigure      = (*DataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*DataSource)(nil)
)

// DataSource implements the data source vnf_rendering.
type DataSource struct{ base.DataSource }

// NewDataSource returns the data source vnf_rendering.
func NewDataSource() datasource.DataSource {
	return &DataSource{base.DataSource{Type: DataSourceType}}
}

type model struct {
	PackageID            types.String  `tfsdk:"package_id"`
	Source               types.String  `tfsdk:"source"`
	FlavourID            types.String  `tfsdk:"flavour_id"`
	InstantiationLevelID types.String  `tfsdk:"instantiation_level_id"`
	ScaleLevels          types.Map     `tfsdk:"scale_levels"`
	Namespace            types.String  `tfsdk:"namespace"`
	AdditionalParams     types.Dynamic `tfsdk:"additional_params"`
	ScaleStatus          types.Map     `tfsdk:"scale_status"`
	VDUs                 types.Map     `tfsdk:"vdus"`
	Objects              types.Map     `tfsdk:"objects"`
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := tfutil.ComputedAttributes(map[string]rschema.Attribute{"vdus": attrs.VDUsAttribute()})
	attributes["package_id"] = schema.StringAttribute{
		MarkdownDescription: "Id of the `vnf_package`. Exactly one of `package_id` and `source` must be set. Where the package is new, or changes, Terraform reads the data source when that has been applied; `source` shows it in the plan.",
		Optional:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(path.MatchRoot("source"))},
	}
	attributes["source"] = schema.StringAttribute{
		MarkdownDescription: "Where a package is that need not be onboarded: a directory, a `.zip` or `.csar` file, or an `http` or `https` URL. A relative path starts at the working directory of Terraform. " +
			"It is read and verified as `vnf_package` does without further arguments, and nothing of it is kept.",
		Optional:   true,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["flavour_id"] = schema.StringAttribute{
		MarkdownDescription: "Deployment flavour of the VNFD. The VNFD's only or default flavour is taken when none is given.",
		Optional:            true,
		Computed:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["instantiation_level_id"] = schema.StringAttribute{
		MarkdownDescription: "Instantiation level of the flavour. The flavour's default level is taken when none is given.",
		Optional:            true,
		Computed:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["scale_levels"] = schema.MapAttribute{
		MarkdownDescription: "Scale level per scaling aspect, over the ones of the instantiation level.",
		ElementType:         types.Int64Type,
		Optional:            true,
		Validators:          []validator.Map{mapvalidator.NoNullValues(), mapvalidator.ValueInt64sAre(int64validator.AtLeast(0))},
	}
	attributes["namespace"] = schema.StringAttribute{
		MarkdownDescription: "Namespace of the instance. Objects that name no namespace are shown without one all the same.",
		Optional:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["additional_params"] = schema.DynamicAttribute{
		MarkdownDescription: "Parameters of the infra driver, as those of `vnf_instance`.",
		Optional:            true,
	}
	attributes["scale_status"] = schema.MapAttribute{
		MarkdownDescription: "Scale level of every scaling aspect.",
		ElementType:         types.Int64Type,
		Computed:            true,
	}
	attributes["objects"] = schema.MapAttribute{
		MarkdownDescription: "The objects as YAML, by the same keys as those of `vnf_instance`: `group/version/Kind namespace/name` as the package writes it. " +
			"Replicas are those of the VDUs, and left out where an autoscaler decides. The values of Secrets are masked.",
		ElementType: types.StringType,
		Computed:    true,
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Shows the objects that an instance of a package would consist of, whether the package has manifests, a Helm chart, or describes its containers in the VNFD. " +
			"Nothing is applied and no VIM is needed. With `source` not even the package is onboarded, so that it is shown before anything is applied.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	spec := m.spec(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	at, object := path.Root("package_id"), fmt.Sprintf("VNF Package %q", spec.PackageID)
	if !m.Source.IsNull() {
		at, object = path.Root("source"), "VNF Package"
		if spec.PackageID = read(ctx, manager, m.Source.ValueString(), at, &resp.Diagnostics); resp.Diagnostics.HasError() {
			return
		}
	}
	rendering, problems, err := manager.RenderInstance(ctx, spec)
	switch {
	case errors.Is(err, vnfm.ErrNotFound):
		resp.Diagnostics.AddAttributeError(at, "VNF Package Not Found",
			fmt.Sprintf("No VNF package in the store of this provider configuration has the id %q. A vnf_package resource onboards one.", spec.PackageID))
		return
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Render", object, err, at)
		return
	}
	resp.Diagnostics.Append(tfutil.Problems(problems, at)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.FlavourID = types.StringValue(rendering.FlavourID)
	m.InstantiationLevelID = tfutil.OptionalString(rendering.LevelID)
	m.ScaleStatus = tfutil.Int64Map(rendering.ScaleStatus)
	m.VDUs = attrs.VDUsValue(rendering.VDUs)
	m.Objects = tfutil.StringMap(rendering.Contents)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// readTimeout bounds the reading of a package, which can hold images.
const readTimeout = 20 * time.Minute

// read reads a package without onboarding it and returns the id by which this process
// knows it.
func read(ctx context.Context, manager vnfm.PackageManager, source string, at path.Path, diags *diag.Diagnostics) string {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	p, problems, err := manager.ReadPackage(ctx, vnfm.PackageSpec{Source: source, Integrity: attrs.IntegrityEnforce, Signature: attrs.SignatureVerifyIfPresent})
	if err != nil {
		tfutil.AddError(diags, "Read", "VNF Package", err, at)
		return ""
	}
	diags.Append(tfutil.Problems(problems, at)...)
	if p == nil {
		return ""
	}
	return p.ID
}

// ValidateConfig implements datasource.DataSourceWithValidateConfig. It reads nothing.
func (d *DataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var source types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("source"), &source)...)
	// What is only looked at needs no protection on its way.
	attrs.CheckSource(path.Root("source"), source, true, &resp.Diagnostics)
}

// spec reads which instance is to be rendered.
func (m *model) spec(ctx context.Context, diags *diag.Diagnostics) vnfm.InstanceSpec {
	s := vnfm.InstanceSpec{
		PackageID:        m.PackageID.ValueString(),
		FlavourID:        m.FlavourID.ValueString(),
		LevelID:          m.InstantiationLevelID.ValueString(),
		Namespace:        m.Namespace.ValueString(),
		OperationalState: vnfm.Started,
	}
	if tfutil.Set(m.ScaleLevels) {
		diags.Append(m.ScaleLevels.ElementsAs(ctx, &s.ScaleLevels, false)...)
	}
	params, err := tfutil.MapToGo(m.AdditionalParams)
	if err != nil {
		diags.AddAttributeError(path.Root("additional_params"), "Invalid Additional Parameters", "additional_params must be an object: "+err.Error()+".")
		return s
	}
	s.AdditionalParams = params
	return s
}
