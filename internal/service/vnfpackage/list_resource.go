package vnfpackage

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListResource returns the list resource vnf_package.
func NewListResource() list.ListResource {
	return &base.ListResource[vnfm.Package]{
		Type: ResourceType, Identity: identity,
		Description: "Lists the VNF packages of the store that match all given filters, each in its latest version. Generated configuration has the source that the version was onboarded from, unless it may hold a secret: a URL with a query or a user. " +
			"Add that, and the access to it.",
		Title: "VNF Packages",
		Filters: map[string]schema.Attribute{
			"name":    base.ListFilter("Only the package of this name."),
			"vnfd_id": base.ListFilter("Only packages whose latest version has the VNFD of this id."),
		},
		Find:    findLatest,
		Values:  func(p *vnfm.Package) []string { return []string{p.Name} },
		Display: func(p *vnfm.Package) string { return p.Name },
		Fill: func(ctx context.Context, data *tfutil.ProviderData, p *vnfm.Package, state *tfsdk.State, diags *diag.Diagnostics) {
			var m resourceModel
			diags.Append(state.SetAttribute(ctx, path.Root("id"), p.ID)...)
			diags.Append(tfutil.Read(ctx, *state, &m)...)
			m.restore(ctx, data.Manager, p.ID, diags)
			m.set(p)
			diags.Append(tfutil.Write(ctx, state, &m)...)
		},
	}
}

// findLatest finds the latest version of each package that matches the filters: an import by name takes it.
func findLatest(ctx context.Context, manager vnfm.Manager, filter map[string]string, _ *diag.Diagnostics) ([]vnfm.Package, error) {
	versions, err := findAll(ctx, manager, map[string]string{"name": filter["name"]})
	var out []vnfm.Package
	at := map[string]int{}
	for _, p := range versions {
		if i, seen := at[p.Name]; seen {
			out[i] = p
			continue
		}
		at[p.Name] = len(out)
		out = append(out, p)
	}
	if id := filter["vnfd_id"]; id != "" {
		out = slices.DeleteFunc(out, func(p vnfm.Package) bool { return p.Descriptor == nil || p.Descriptor.ID != id })
	}
	return out, err
}
