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
	ObjectManifests      types.Map     `tfsdk:"object_manifests"`
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := tfutil.ComputedAttributes(map[string]rschema.Attribute{"vdus": attrs.VDUsAttribute()})
	attributes["package_id"] = schema.StringAttribute{
		MarkdownDescription: "Id of the `vnf_package`. Exactly one of `package_id` and `source` must be set. If the package is new or changes, Terraform reads the data source after applying it; `source` shows it in the plan.",
		Optional:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(path.MatchRoot("source"))},
	}
	attributes["source"] = schema.StringAttribute{
		MarkdownDescription: "Directory, `.zip` or `.csar` file, `http` or `https` URL, or artifact in a registry (`oci://<registry>/<path>:<tag>`) of a package that is not onboarded, without credentials. A relative path starts at the working directory of Terraform. The package is read and verified with the defaults of `vnf_package` and is not stored.",
		Optional:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["flavour_id"] = schema.StringAttribute{
		MarkdownDescription: "Deployment flavour of the VNFD. Defaults to the only or default flavour of the VNFD.",
		Optional:            true,
		Computed:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["instantiation_level_id"] = schema.StringAttribute{
		MarkdownDescription: "Instantiation level of the flavour. Defaults to the default level of the flavour.",
		Optional:            true,
		Computed:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["scale_levels"] = schema.MapAttribute{
		MarkdownDescription: "Scale level per scaling aspect. Defaults to the levels of the instantiation level.",
		ElementType:         types.Int64Type,
		Optional:            true,
		Validators:          []validator.Map{mapvalidator.NoNullValues(), mapvalidator.ValueInt64sAre(int64validator.AtLeast(0))},
	}
	attributes["namespace"] = schema.StringAttribute{
		MarkdownDescription: "Namespace of the instance. Objects without a namespace are shown without one.",
		Optional:            true,
		Validators:          []validator.String{tfutil.Namespace()},
	}
	attributes["additional_params"] = schema.DynamicAttribute{
		MarkdownDescription: "Parameters of the infra driver, as in `vnf_instance`.",
		Optional:            true,
	}
	attributes["scale_status"] = schema.MapAttribute{
		MarkdownDescription: "Scale level of every scaling aspect.",
		ElementType:         types.Int64Type,
		Computed:            true,
	}
	attributes["object_manifests"] = schema.MapAttribute{
		MarkdownDescription: "Manifests of the objects as YAML, by `group/version/Kind namespace/name` as in the package. Replicas are those of the VDUs, and absent if an autoscaler sets them. Values of Secrets are masked, and results of random functions of a chart are placeholders.",
		ElementType:         types.StringType,
		Computed:            true,
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Shows the objects of an instance of a package with manifests, a Helm chart, or containers in the VNFD. It applies nothing and needs no VIM; with `source` it does not even onboard the package.",
		Attributes:          attributes,
	}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &m)...)
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
	m.ObjectManifests = tfutil.StringMap(rendering.Contents)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &m)...)
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
	// A package that is only shown needs no protection against replacement.
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
	if len(m.ScaleLevels.Elements()) > 0 {
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
