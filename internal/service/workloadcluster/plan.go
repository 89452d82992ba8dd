package workloadcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ModifyPlan implements resource.ResourceWithModifyPlan. It shows the objects that the
// cluster will consist of, and has the management cluster try what is new or changed.
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
	r.planNamespace(ctx, &plan, &config, state, resp)
	plan.APIVersion = types.StringUnknown()
	if state != nil && tfutil.Set(state.APIVersion) {
		plan.APIVersion = state.APIVersion
	}
	checkUpgrade(&plan, state, &resp.Diagnostics)
	spec, known := plan.spec(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	known = known && r.data.Known() && !plan.Namespace.IsUnknown()
	plan.Objects = types.MapUnknown(types.StringType)
	if known {
		r.preview(ctx, &plan, spec, &resp.Diagnostics)
	}
	planProgress(ctx, &plan, state)
	if known && len(resp.RequiresReplace) == 0 && !resp.Diagnostics.HasError() {
		r.dryRun(ctx, &plan, state, spec, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// planNamespace plans the namespace that the user gave; else it stays, or is the
// default of the management cluster when that is registered.
func (r *Resource) planNamespace(ctx context.Context, plan, config, state *model, resp *resource.ModifyPlanResponse) {
	switch {
	case !config.Namespace.IsNull():
		plan.Namespace = config.Namespace
	case state != nil && plan.VIMID.Equal(state.VIMID):
		plan.Namespace = state.Namespace
	default:
		plan.Namespace = types.StringUnknown()
		if r.data.Known() && tfutil.Set(plan.VIMID) {
			if vim, err := r.data.Manager.VIM(ctx, plan.VIMID.ValueString()); err == nil {
				plan.Namespace = types.StringValue(vim.DefaultNamespace())
			}
		}
	}
	if state != nil && !plan.Namespace.IsUnknown() && !plan.Namespace.Equal(state.Namespace) {
		resp.RequiresReplace.Append(path.Root("namespace"))
	}
}

// preview fills the objects that the cluster will consist of.
func (r *Resource) preview(ctx context.Context, plan *model, spec vnfm.InstanceSpec, diags *diag.Diagnostics) {
	preview, problems, err := r.data.Manager.PreviewInstance(ctx, spec)
	if errors.Is(err, vnfm.ErrNotFound) {
		// The management cluster is registered, or gets Cluster API, by the same apply.
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Preview", titled(spec.Name), err, path.Empty())
		return
	}
	diags.Append(tfutil.Problems(problems, path.Empty())...)
	if !problems.HasErrors() {
		plan.Objects = tfutil.StringMap(preview.Objects)
	}
}

// planProgress marks unknown what an operation will change; where none is needed all
// stays as it is. The framework does so only when an argument differs, which is not so
// when an interrupted operation is to be resumed.
func planProgress(ctx context.Context, plan, state *model) {
	if state != nil && !needsOperation(ctx, plan, state) {
		plan.observed, plan.Status, plan.Generation, plan.KubeconfigRef = state.observed, state.Status, state.Generation, state.KubeconfigRef
		return
	}
	plan.observed = unknownObserved()
	plan.Status, plan.Generation = types.StringUnknown(), types.Int64Unknown()
	plan.KubeconfigRef = types.ObjectUnknown(tfutil.ClusterRefType.AttrTypes)
	if state != nil && tfutil.Set(state.KubeconfigRef) {
		// Once the cluster was ready its kubeconfig can be read, whatever happens to it:
		// what depends on it must not wait for what may be repaired through it.
		plan.KubeconfigRef = state.KubeconfigRef
	}
}

func needsOperation(_ context.Context, plan, state *model) bool {
	if state.Status.ValueString() != string(vnfm.StatusInstantiated) || regenerates(plan, state) || heals(plan, state) || tfutil.SinkMoved(plan.Sink, state.Sink) {
		return true
	}
	for _, pair := range [][2]attr.Value{
		{plan.VIMID, state.VIMID}, {plan.Namespace, state.Namespace}, {plan.Name, state.Name}, {plan.KubernetesVersion, state.KubernetesVersion},
		{plan.ControlPlane, state.ControlPlane}, {plan.NodeGroups, state.NodeGroups}, {plan.Paused, state.Paused},
		{plan.OnFailure, state.OnFailure}, {plan.Objects, state.Objects},
	} {
		if !pair[0].Equal(pair[1]) {
			return true
		}
	}
	return false
}

// dryRun has the management cluster try the objects that the plan adds or changes.
func (r *Resource) dryRun(ctx context.Context, plan, state *model, spec vnfm.InstanceSpec, diags *diag.Diagnostics) {
	if !plan.ServerDryRun.ValueBool() || !tfutil.Set(plan.Objects) {
		return
	}
	before, id := map[string]string{}, ""
	if state != nil {
		before, id = texts(state.Objects), state.ID.ValueString()
	}
	var keys []string
	for key, digest := range texts(plan.Objects) {
		if before[key] != digest {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	problems, err := r.data.Manager.DryRunInstance(ctx, id, spec, keys)
	switch {
	case errors.Is(err, vnfm.ErrNotFound):
	case err != nil:
		diags.AddAttributeWarning(path.Root("vim_id"), fmt.Sprintf("Plan of %s Was Not Tried on the Management Cluster", titled(spec.Name)), tfutil.ErrorDetail(err))
	default:
		diags.Append(tfutil.Problems(problems, path.Empty())...)
	}
}
