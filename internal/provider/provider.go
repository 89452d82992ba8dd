// Package provider is the Terraform provider: its configuration and the list of
// its objects, nothing else.
package provider

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/functions"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/clustertemplate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/instance"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/privateregistry"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/rendering"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/vim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/vnfpackage"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/workloadcluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TypeName is the name of the provider and the first word of all its types.
const TypeName = "vnf"

var (
	_ provider.Provider                       = (*Provider)(nil)
	_ provider.ProviderWithFunctions          = (*Provider)(nil)
	_ provider.ProviderWithEphemeralResources = (*Provider)(nil)
	_ provider.ProviderWithListResources      = (*Provider)(nil)
	_ provider.ProviderWithActions            = (*Provider)(nil)
	_ provider.ProviderWithValidateConfig     = (*Provider)(nil)
)

// Provider implements the Terraform provider.
type Provider struct {
	version string
	// data is that of the last configuration.
	data atomic.Pointer[tfutil.ProviderData]
}

// New returns a constructor of the provider for providerserver.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &Provider{version: version} }
}

// Metadata implements provider.Provider.
func (p *Provider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = TypeName
	resp.Version = p.version
}

// Configure implements provider.Provider. It opens nothing: the store is opened
// and VIMs are reached at the first use. While a value of the configuration is
// unknown there is no manager, and plans go on without it; an unknown entry of vims leaves that
// VIM alone offline, and one of management_params is for no plan.
func (p *Provider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	data := &tfutil.ProviderData{Version: p.version}
	if knownBut(req.Config.Raw, vimsArgument, managementParamsArgument) {
		var m model
		resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &m)...)
		if resp.Diagnostics.HasError() {
			return
		}
		data.OnFailure = vnfm.OnFailure(m.OnFailure.ValueString())
		data.OnUnreachable = vnfm.OnUnreachable(m.OnUnreachable.ValueString())
		data.Manager = newManager(ctx, p.version, &m, &resp.Diagnostics)
		if resp.Diagnostics.HasError() {
			return
		}
	}
	// A debugged provider is configured again by the next command of Terraform.
	acknowledge(ctx, p.data.Swap(data))
	resp.DataSourceData = data
	resp.ResourceData = data
	resp.EphemeralResourceData = data
	resp.ListResourceData = data
	resp.ActionData = data
}

// acknowledge notes that Terraform has what was created with that configuration, if there is one.
func acknowledge(ctx context.Context, data *tfutil.ProviderData) {
	if data.Known() {
		data.Manager.Acknowledge(ctx)
	}
}

// Resources implements provider.Provider.
func (p *Provider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		clustertemplate.NewResource,
		instance.NewResource,
		privateregistry.NewResource,
		vim.NewResource,
		vnfpackage.NewResource,
		workloadcluster.NewResource,
	}
}

// DataSources implements provider.Provider.
func (p *Provider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		instance.NewDataSource,
		instance.NewListDataSource,
		instance.NewOperationsDataSource,
		privateregistry.NewDataSource,
		privateregistry.NewListDataSource,
		rendering.NewDataSource,
		vim.NewDataSource,
		vim.NewListDataSource,
		vnfpackage.NewDataSource,
		vnfpackage.NewListDataSource,
		workloadcluster.NewDataSource,
		workloadcluster.NewKubeconfigDataSource,
		workloadcluster.NewListDataSource,
	}
}

// ListResources implements provider.ProviderWithListResources.
func (p *Provider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{
		instance.NewListResource,
		privateregistry.NewListResource,
		vim.NewListResource,
		vnfpackage.NewListResource,
		workloadcluster.NewListResource,
	}
}

// Actions implements provider.ProviderWithActions.
func (p *Provider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{
		instance.NewHealAction,
		instance.NewHookAction,
		workloadcluster.NewCredentialAction,
		workloadcluster.NewKubeconfigAction,
	}
}

// EphemeralResources implements provider.ProviderWithEphemeralResources.
func (p *Provider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		workloadcluster.NewKubeconfigEphemeral,
	}
}

// Functions implements provider.ProviderWithFunctions.
func (p *Provider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		functions.NewParseCSARManifest,
		functions.NewParseKubeconfig,
		functions.NewParseVNFD,
	}
}
