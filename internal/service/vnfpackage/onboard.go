package vnfpackage

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// onboard onboards what a plan says, for a share of the package, and fills the plan. The access is that of the configuration where
// there is one. Warnings about the content
// were said when the plan was made and are not repeated.
func onboard(ctx context.Context, manager vnfm.PackageManager, plan *resourceModel, access *accessModel, share string) diag.Diagnostics {
	var diags diag.Diagnostics
	planned := ""
	if !plan.ID.IsUnknown() {
		planned = plan.ID.ValueString()
	}
	spec := plan.spec(ctx, &diags)
	spec.Share, spec.Access = share, access.toDomain()
	ctx = withoutSecrets(ctx, spec.Access)
	if diags.HasError() {
		return diags
	}
	p, problems, err := manager.OnboardPackage(ctx, spec, planned)
	if err != nil {
		tfutil.AddError(&diags, "Onboard", object(plan.Name.ValueString()), err, path.Root("source"))
		return diags
	}
	if problems.HasErrors() {
		return tfutil.Problems(problems, path.Root("source"))
	}
	plan.described = describe(p)
	plan.Status = types.StringValue(statusOnboarded)
	return diags
}

// find returns the package of that id, or else the latest version of that name.
func find(ctx context.Context, manager vnfm.PackageManager, idOrName string) (*vnfm.Package, error) {
	p, err := manager.Package(ctx, idOrName)
	if errors.Is(err, vnfm.ErrNotFound) {
		return manager.PackageByName(ctx, idOrName)
	}
	return p, err
}
