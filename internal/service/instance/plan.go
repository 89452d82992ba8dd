package instance

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ModifyPlan implements resource.ResourceWithModifyPlan. It shows what the
// instance will consist of, computed from package and arguments without any
// request to the VIM, and has the VIM try what is new or changed.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	var state *model
	if !req.State.Raw.IsNull() {
		state = &model{}
		resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	// What the user left out is computed anew, not carried on from the state: a
	// new package may have other defaults.
	plan.FlavourID, plan.InstantiationLevelID = config.FlavourID, config.InstantiationLevelID
	planNamespace(ctx, &plan, &config, state, resp)
	planConnections(&plan, state, resp)
	r.planPreview(ctx, &plan, &config, state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	planProgress(ctx, &plan, state)
	if len(resp.RequiresReplace) == 0 {
		r.dryRun(ctx, &plan, state, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// planPreview fills what the instance will consist of, or says that it is unknown.
func (r *Resource) planPreview(ctx context.Context, plan, config, state *model, diags *diag.Diagnostics) {
	spec, known := plan.spec(ctx, diags)
	if diags.HasError() {
		return
	}
	if state != nil && !heals(plan, state) {
		spec.Heal = nil
	}
	if !known || !r.data.Known() || config.FlavourID.IsUnknown() || config.InstantiationLevelID.IsUnknown() {
		plan.setPreviewUnknown(config)
		return
	}
	preview, problems, err := r.data.Manager.PreviewInstance(ctx, spec)
	if errors.Is(err, vnfm.ErrNotFound) {
		plan.setPreviewUnknown(config)
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Preview", fmt.Sprintf("VNF Instance %q", spec.Name), err, path.Root("package_id"))
		return
	}
	diags.Append(tfutil.Problems(problems, path.Root("package_id"))...)
	switch {
	case problems.HasErrors():
	case preview.NamespaceNeeded:
		plan.setPreviewUnknown(config)
	default:
		plan.setPreview(preview)
	}
}

// planNamespace plans the namespace that the user gave, here or as an additional
// parameter; else it stays, or is known once the VIM is.
func planNamespace(ctx context.Context, plan, config, state *model, resp *resource.ModifyPlanResponse) {
	switch {
	case !config.Namespace.IsNull():
		plan.Namespace = config.Namespace
	case !tfutil.FullyKnown(ctx, config.AdditionalParams):
		plan.Namespace = types.StringUnknown()
	default:
		params, err := tfutil.MapToGo(config.AdditionalParams)
		name, ok := params["namespace"].(string)
		switch {
		case err == nil && ok && name != "":
			plan.Namespace = types.StringValue(name)
		case state != nil && plan.VIMID.Equal(state.VIMID):
			plan.Namespace = state.Namespace
		default:
			plan.Namespace = types.StringUnknown()
		}
	}
	if state != nil && !plan.Namespace.IsUnknown() && !plan.Namespace.Equal(state.Namespace) {
		resp.RequiresReplace.Append(path.Root("namespace"))
	}
}

// planProgress marks status and generation unknown when an operation will run.
// The framework does that only when something else differs already, which is not
// so when an interrupted operation is to be resumed.
func planProgress(ctx context.Context, plan, state *model) {
	if state != nil && !needsOperation(ctx, plan, state) {
		plan.Status, plan.Generation = state.Status, state.Generation
		return
	}
	plan.Status = types.StringUnknown()
	plan.Generation = types.Int64Unknown()
}

func needsOperation(ctx context.Context, plan, state *model) bool {
	if state.Status.ValueString() != string(vnfm.StatusInstantiated) || heals(plan, state) || tfutil.SinkMoved(plan.CredentialsSink, state.CredentialsSink) || !sameParams(ctx, plan.AdditionalParams, state.AdditionalParams) {
		return true
	}
	for _, pair := range [][2]attr.Value{
		{plan.VIMID, state.VIMID},
		{plan.VIMConnections, state.VIMConnections},
		{plan.PackageID, state.PackageID},
		{plan.FlavourID, state.FlavourID},
		{plan.InstantiationLevelID, state.InstantiationLevelID},
		{plan.ScaleStatus, state.ScaleStatus},
		{plan.Namespace, state.Namespace},
		{plan.OperationalState, state.OperationalState},
		{plan.VDUs, state.VDUs},
		{plan.Objects, state.Objects},
	} {
		if !pair[0].Equal(pair[1]) {
			return true
		}
	}
	return false
}

// sameParams reports whether two values hold the same parameters, be they written
// as lists or tuples, maps or objects.
func sameParams(ctx context.Context, a, b types.Dynamic) bool {
	if a.Equal(b) {
		return true
	}
	if !tfutil.FullyKnown(ctx, a) || !tfutil.FullyKnown(ctx, b) {
		return false
	}
	left, leftErr := tfutil.MapToGo(a)
	right, rightErr := tfutil.MapToGo(b)
	return leftErr == nil && rightErr == nil && reflect.DeepEqual(left, right)
}
