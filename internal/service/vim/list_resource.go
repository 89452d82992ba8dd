package vim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListResource returns the list resource vnf_vim.
func NewListResource() list.ListResource {
	return &base.ListResource[vnfm.VIM]{
		Type: ResourceType, Identity: identity,
		Description: "Lists the VIMs of the store that match all given filters. It reads records only. Generated configuration has the connection without its credentials: add those, or configure the connection in `vims` of the provider.",
		Title:       "VIMs",
		Filters: map[string]schema.Attribute{
			"name": base.ListFilter("Only VIMs of this name."),
			"type": base.ListFilter("Only VIMs of this type: `kubernetes` or `openstack`.", typeRule),
		},
		Find: func(ctx context.Context, manager vnfm.Manager, filter map[string]string, _ *diag.Diagnostics) ([]vnfm.VIM, error) {
			return findAll(ctx, manager, filter)
		},
		Values:  func(v *vnfm.VIM) []string { return []string{v.ID} },
		Display: func(v *vnfm.VIM) string { return v.Name },
		Fill: func(ctx context.Context, _ *tfutil.ProviderData, v *vnfm.VIM, state *tfsdk.State, diags *diag.Diagnostics) {
			var m resourceModel
			diags.Append(state.SetAttribute(ctx, path.Root("id"), v.ID)...)
			diags.Append(tfutil.Read(ctx, *state, &m)...)
			diags.Append(m.fromVIM(ctx, v)...)
			diags.Append(tfutil.Write(ctx, state, &m)...)
		},
	}
}
