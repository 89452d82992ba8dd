package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// Bounds and default of the argument concurrency.
const (
	minConcurrency     = 1
	maxConcurrency     = 64
	defaultConcurrency = 16
)

type model struct {
	Store       types.Object `tfsdk:"store"`
	Encryption  types.Object `tfsdk:"encryption"`
	Concurrency types.Int64  `tfsdk:"concurrency"`
	OnFailure   types.String `tfsdk:"on_failure"`
	VIMs        types.Map    `tfsdk:"vims"`

	OnUnreachable types.String `tfsdk:"on_unreachable"`

	ManagementParams types.Dynamic `tfsdk:"management_params"`
}

type encryptionModel struct {
	KeyFile  types.String `tfsdk:"key_file"`
	Key      types.String `tfsdk:"key"`
	Barbican types.Object `tfsdk:"barbican"`
}

// Schema implements provider.Provider.
func (p *Provider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A VNF manager (ETSI NFV VNFM) inside Terraform: it registers VIMs, onboards VNF packages (CSAR, SOL004) and runs the life cycle of VNF instances. " +
			"No server has to be installed, and no argument has to be set.",
		Attributes: map[string]schema.Attribute{
			"store": storeAttribute(),
			"encryption": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Key that encrypts credentials and package contents in the store: one or more age identities (`AGE-SECRET-KEY-1...`, one per line; the first one encrypts, all of them decrypt), or keys in Barbican. " +
					"Credentials sealed with an older key are re-encrypted when next read. " +
					"Set at least one argument. Defaults to the environment variable `VNF_ENCRYPTION_KEY`, else to a key that is created with the store: a file beside a local one, a record of another one, which then opens for everybody who can read it.",
				Attributes: map[string]schema.Attribute{
					"key_file": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Path of a key file in the format of `age-keygen`. Only its owner may have access to it (mode 0600).",
						Validators: []validator.String{
							stringvalidator.LengthAtLeast(1),
							stringvalidator.ConflictsWith(path.MatchRelative().AtParent().AtName("key")),
							stringvalidator.AtLeastOneOf(path.MatchRelative().AtParent().AtName("key"), path.MatchRelative().AtParent().AtName("barbican")),
						},
					},
					"key": schema.StringAttribute{
						Optional:            true,
						Sensitive:           true,
						MarkdownDescription: "Content of the key. It may be an ephemeral value, for example from a secret manager.",
						Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
					},
					"barbican": barbicanAttribute(),
				},
			},
			"vims":                   vimsAttribute(),
			managementParamsArgument: managementParamsAttribute(),
			"concurrency": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "Number of requests that one operation keeps in flight, from 1 to 64. Defaults to `16`.",
				Validators:          []validator.Int64{int64validator.Between(minConcurrency, maxConcurrency)},
			},
			"on_failure": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: base.OnFailureDescription + " It holds for resources that do not set `on_failure` themselves. Defaults to `fail`.",
				Validators:          base.OnFailureValidators(),
			},
			"on_unreachable": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: base.OnUnreachableDescription + " It holds for resources whose state does not have `on_unreachable`, and likewise for the hosts of private registries. Defaults to `fail`.",
				Validators:          base.OnUnreachableValidators(),
			},
		},
	}
}

// ValidateConfig implements provider.ProviderWithValidateConfig. It reads no files.
func (p *Provider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var m model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	validateVIMs(ctx, m.VIMs, &resp.Diagnostics)
	readManagementParams(m.ManagementParams, &resp.Diagnostics)
	if m.Store.IsNull() || m.Store.IsUnknown() {
		return
	}
	var s storeModel
	resp.Diagnostics.Append(tfutil.Into(ctx, m.Store, &s)...)
	if resp.Diagnostics.HasError() {
		return
	}
	s.validate(ctx, &resp.Diagnostics)
}
