package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/vim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/vnfpackage"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// Server is what a server of the provider answers: the calls for list resources and actions are in interfaces of their own.
type Server interface {
	calls
	// Close notes that Terraform has closed the provider in order: what it has created is in the state.
	Close(ctx context.Context)
}

type calls interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// NewServer returns a constructor of servers of the provider.
func NewServer(version string) func() Server {
	p := &Provider{version: version}
	server := providerserver.NewProtocol6(p)
	return func() Server { return printableServer{stateKeeper{server().(calls), p}} } //nolint:forcetypeassert // the server of the framework has all calls
}

// stateKeeper is a server that keeps the states of VIMs and packages. Their upgrade is the one request about a resource without a
// change that an apply of a saved plan sends, if the resource has a condition. An instance that the plan creates may need the records
// over a store that was lost since.
type stateKeeper struct {
	calls
	provider *Provider
}

// Close implements Server.
func (s stateKeeper) Close(ctx context.Context) { acknowledge(ctx, s.provider.data.Load()) }

// UpgradeResourceState implements tfprotov6.ResourceServer.
func (s stateKeeper) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	resp, err := s.calls.UpgradeResourceState(ctx, req)
	if err == nil && resp.UpgradedState != nil {
		s.provider.keep(ctx, req.TypeName, resp.UpgradedState)
	}
	return resp, err
}

// restorable are the resources whose records are written again from kept states.
var restorable = map[string]struct {
	resource func() resource.Resource
	restore  func(ctx context.Context, data *tfutil.ProviderData, state tfsdk.State, diags *diag.Diagnostics)
}{
	vim.ResourceType:        {vim.NewResource, vim.Restore},
	vnfpackage.ResourceType: {vnfpackage.NewResource, vnfpackage.Restore},
}

// keep keeps the state of a resource. One that cannot be read is left out: its instances tell that a record is missing.
func (p *Provider) keep(ctx context.Context, typeName string, upgraded *tfprotov6.DynamicValue) {
	kind, ok := restorable[typeName]
	data := p.data.Load()
	if !ok || !data.Known() {
		return
	}
	var s resource.SchemaResponse
	kind.resource().Schema(ctx, resource.SchemaRequest{}, &s)
	raw, err := upgraded.Unmarshal(s.Schema.Type().TerraformType(ctx))
	if err != nil {
		return
	}
	state := tfsdk.State{Schema: s.Schema, Raw: raw}
	var id types.String
	if state.GetAttribute(ctx, path.Root("id"), &id).HasError() {
		return
	}
	data.KeepRestorer(id.ValueString(), func(ctx context.Context, diags *diag.Diagnostics) { kind.restore(ctx, data, state, diags) })
}
