package vnfpackage

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ModifyPlan implements resource.ResourceWithModifyPlan: it reads the package and
// plans everything that its content says, so that a changed content shows and an
// unchanged one does not. Where something is not known yet, it stays unknown.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || !r.Data.Known() {
		return
	}
	var plan, state resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	creating := req.State.Raw.IsNull()
	if !creating {
		resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
		if state.Status.ValueString() == statusUnknown {
			// The update onboards it again.
			r.Data.Expect(state.ID.ValueString())
		}
	}
	access := configuredAccess(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !plan.known(ctx) || !access.known(ctx) {
		return
	}
	limit := plan.Timeouts.Update
	if creating {
		limit = plan.Timeouts.Create
	}
	ctx, cancel := tfutil.WithTimeout(ctx, limit, onboardTimeout, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	spec := plan.spec(ctx, &resp.Diagnostics)
	spec.Access = access.toDomain()
	ctx = withoutSecrets(ctx, spec.Access)
	if resp.Diagnostics.HasError() {
		return
	}
	p, problems, err := r.Data.Manager.ReadPackage(ctx, spec)
	switch {
	case err != nil && !creating && keeps(&plan, &state, err):
		left := "The onboarded content stays; changes of the source cannot be detected."
		if state.Status.ValueString() != statusOnboarded {
			left = "The store does not have the content either. Restore the source before an instance of the package is changed; a destroy does not need it."
		}
		resp.Diagnostics.AddAttributeWarning(path.Root("source"), "Source of the Package Not Readable", tfutil.ErrorDetail(err)+"\n\n"+left)
		plan.described, plan.Status = state.described, state.Status
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Read", object(plan.Name.ValueString()), err, path.Root("source"))
		return
	case problems.HasErrors():
		resp.Diagnostics.Append(tfutil.Problems(problems, path.Root("source"))...)
		return
	default:
		if creating || !reported(&plan, &state, p.ID) {
			resp.Diagnostics.Append(tfutil.Problems(problems, path.Root("source"))...)
		}
		plan.described, plan.Status = describe(p), types.StringValue(statusOnboarded)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
}

// reported tells whether the warnings of a package were reported when it was planned: it is onboarded as it is.
func reported(plan, state *resourceModel, id string) bool {
	return id == state.ID.ValueString() && plan.readsAs(state.inputs) && state.Status.ValueString() == statusOnboarded
}

// configuredAccess reads how one gets into the source: a configuration alone has the write-only arguments.
func configuredAccess(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) *accessModel {
	var m resourceModel
	diags.Append(tfutil.Read(ctx, config, &m)...)
	return &m.accessModel
}

// keeps reports whether the plan keeps the package as it is although the
// source cannot be read: nothing was asked to change, and what failed is reaching
// the source, not its content. That holds for a package that the store has lost as well: Terraform plans
// like this before a destroy, which needs no source.
func keeps(plan, state *resourceModel, err error) bool {
	var invalid *vnfm.InvalidError
	return plan.Name.Equal(state.Name) && plan.readsAs(state.inputs) &&
		(errors.Is(err, fs.ErrNotExist) || strings.Contains(plan.Source.ValueString(), "://")) &&
		!errors.As(err, &invalid) && !errors.Is(err, context.Canceled)
}

// ValidateConfig implements resource.ResourceWithValidateConfig. It reads nothing.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	protected := !config.Checksum.IsNull() || config.Signature.ValueString() == signatureRequire
	config.check(config.Source, !config.External.IsNull() && !config.External.Equal(types.BoolValue(false)), &resp.Diagnostics)
	attrs.CheckSource(path.Root("source"), config.Source, protected, &resp.Diagnostics)
	if config.Signature.ValueString() == signatureRequire && config.Trust.IsNull() {
		resp.Diagnostics.AddAttributeError(path.Root("trust"), "Missing Trust Roots",
			"signature = \"require\" requires trust.roots: the CA certificates at which a signer's certificate chain ends.")
	}
	if tfutil.Set(config.Trust) {
		trust := config.trust(ctx, &resp.Diagnostics)
		tfutil.CheckCertificates(path.Root("trust").AtName("roots"), trust.Roots, &resp.Diagnostics)
		tfutil.CheckRevocationLists(path.Root("trust").AtName("crls"), trust.CRLs, &resp.Diagnostics)
	}
}
