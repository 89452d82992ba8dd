package privateregistry

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

// NewListResource returns the list resource vnf_private_registry.
func NewListResource() list.ListResource {
	return &base.ListResource[vnfm.Registry]{
		Type: ResourceType, Identity: identity,
		Description: "Lists the private registries of the store that match all given filters. It reads records only. Generated configuration has neither `ssh` nor `tls` nor `users`: add those that the registry has.",
		Title:       "Private Registries",
		Filters: map[string]schema.Attribute{
			"name":        base.ListFilter("Only registries of this name."),
			"instance_id": base.ListFilter("Only registries on a server of the `vnf_instance` of this id."),
		},
		Find: func(ctx context.Context, manager vnfm.Manager, filter map[string]string, _ *diag.Diagnostics) ([]vnfm.Registry, error) {
			return findAll(ctx, manager, filter)
		},
		Values:  func(r *vnfm.Registry) []string { return []string{r.ID} },
		Display: func(r *vnfm.Registry) string { return r.Spec.Name },
		Fill: func(ctx context.Context, _ *tfutil.ProviderData, r *vnfm.Registry, state *tfsdk.State, diags *diag.Diagnostics) {
			var m model
			diags.Append(state.SetAttribute(ctx, path.Root("id"), r.ID)...)
			diags.Append(tfutil.Read(ctx, *state, &m)...)
			m.restore(r)
			m.set(ctx, r, diags)
			diags.Append(tfutil.Write(ctx, state, &m)...)
		},
	}
}
