package base

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ModifyPlan implements resource.ResourceWithModifyPlan. It shows what the
// instance will consist of, computed from the arguments without any request to the
// VIM, and has the VIM try what is new or changed.
func (r *InstanceResource[M, P]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.warnOfStop(ctx, req.State, &resp.Diagnostics)
		return
	}
	ctx = vnfm.WithRefresh(ctx)
	var plan, config M
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	var state *M
	if !req.State.Raw.IsNull() {
		state = r.state(ctx, req.State, req.Private, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	m := P(&plan)
	var manager vnfm.Manager
	if r.data.Known() {
		manager = r.data.Manager
		if err := r.ensureVIMs(ctx, req.Private, &resp.Diagnostics); err != nil {
			r.warnOfVIM(m.Common().Name.ValueString(), err, &resp.Diagnostics)
		}
	}
	enough := m.PlanArguments(ctx, manager, &config, state, resp)
	ReplaceFor(&req, resp, r.config.Fixed...)
	if state != nil {
		r.planNamespace(m, state, resp)
	}
	spec, known := r.spec(ctx, &plan, state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, hide := tfutil.HideSecrets(ctx, &resp.Diagnostics, m.Conceal(ctx, &config, &spec, &resp.Diagnostics)...)
	defer hide()
	m.SetPreviewUnknown(&config)
	if state != nil && manager != nil {
		r.checkTargets(ctx, nil, m, state, spec, &resp.Diagnostics)
	}
	if known && enough && manager != nil && !resp.Diagnostics.HasError() {
		r.preview(ctx, m, state, spec, req.Private, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if state == nil && known && manager != nil {
		r.warnOfExisting(ctx, spec, manager, &resp.Diagnostics)
	}
	runs := state == nil || r.needsOperation(ctx, m, state)
	planProgress(m.Common(), priorModel[M, P](state), runs)
	m.PlanProgress(ctx, state, runs, &resp.Diagnostics)
	r.planWords(ctx, m, state, spec, known && enough && manager != nil, runs, &req, &resp.Diagnostics)
	if manager != nil && known && state != nil && !runs {
		r.rememberParams(ctx, idOf[M, P](state), spec, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
	if state != nil && len(resp.RequiresReplace) > 0 {
		r.warnOfStop(ctx, req.State, &resp.Diagnostics)
		r.warnOfUnknownVIM(m, &resp.Diagnostics)
	}
	if manager != nil && len(resp.RequiresReplace) == 0 {
		asked := state == nil || argumentsDiffer(&req.State, &resp.Plan)
		r.dryRun(ctx, m, state, spec, asked, &resp.Diagnostics)
	}
}

// ReplaceFor has Terraform replace a resource when an argument changes that only a new one can have. An import may not know one: what is
// there stays. Plan modifiers of the schema could do so, and ModifyPlan would not know that it plans a replacement.
func ReplaceFor(req *resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, names ...string) {
	var before, after map[string]tftypes.Value
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() || req.State.Raw.As(&before) != nil || req.Plan.Raw.As(&after) != nil {
		return
	}
	for _, name := range names {
		if !before[name].IsNull() && !after[name].Equal(before[name]) {
			resp.RequiresReplace.Append(path.Root(name))
		}
	}
}

// warnOfUnknownVIM says why a plan replaces an instance whose configuration names the VIM that it runs on, as after the import of the
// instance alone.
func (r *InstanceResource[M, P]) warnOfUnknownVIM(plan P, diags *diag.Diagnostics) {
	if plan.VIM().IsUnknown() {
		diags.AddAttributeWarning(path.Root(r.config.VIMAttribute), fmt.Sprintf("VIM of %s Is Not Known Yet", r.config.titled(plan.Common().Name.ValueString())),
			fmt.Sprintf("Terraform replaces the %[1]s, since its VIM may be another one after the apply. If it is the VIM that the %[1]s is on, "+
				"import the resource of the VIM first, for example with \"terraform import vnf_vim.lab NAME\".", r.config.Noun))
	}
}

// planNamespace has Terraform replace an instance that is to be in another namespace. One that is not known yet is most often the same,
// and nothing that runs is replaced for it.
func (r *InstanceResource[M, P]) planNamespace(plan P, state *M, resp *resource.ModifyPlanResponse) {
	wanted, present := plan.Common().Namespace, P(state).Common().Namespace
	switch {
	case wanted.Equal(present):
	case !wanted.IsUnknown():
		resp.RequiresReplace.Append(path.Root("namespace"))
	case plan.VIM().Equal(P(state).VIM()):
		resp.Diagnostics.AddAttributeWarning(path.Root("namespace"), fmt.Sprintf("Namespace of %s Is Not Known Yet", r.config.titled(plan.Common().Name.ValueString())),
			fmt.Sprintf("It is in namespace %q now, and this plan keeps it there. If the apply finds another namespace, Terraform stops with \"Provider produced inconsistent final plan\" and changes nothing of the %s: "+
				"plan again, and the plan replaces it.", present.ValueString(), r.config.Noun))
	}
}

// priorModel is what a state holds of an InstanceModel; nil without a state.
func priorModel[M any, P Model[M]](state *M) *InstanceModel {
	if state == nil {
		return nil
	}
	return P(state).Common()
}

// idOf is the id in a state; empty without a state.
func idOf[M any, P Model[M]](state *M) string {
	if state == nil {
		return ""
	}
	return P(state).Common().ID.ValueString()
}

// preview fills the planned objects and counts of the instance. A missing VIM or package is
// registered by the same apply, if an update of its resource is planned.
func (r *InstanceResource[M, P]) preview(ctx context.Context, plan P, state *M, spec vnfm.InstanceSpec, private privateState, diags *diag.Diagnostics) {
	id := idOf[M, P](state)
	preview, problems, err := r.data.Manager.PreviewInstance(ctx, id, spec)
	if errors.Is(err, vnfm.ErrNotFound) && r.readPackage(ctx, private, err, diags) {
		preview, problems, err = r.data.Manager.PreviewInstance(ctx, id, spec)
	}
	if errors.Is(err, vnfm.ErrNotFound) && id == "" {
		r.restoreLost(ctx, err, spec, diags)
		preview, problems, err = r.data.Manager.PreviewInstance(ctx, id, spec)
	}
	if state == nil && (err == nil || errors.Is(err, vnfm.ErrNotFound)) {
		r.warnOfLost(ctx, err, spec, diags)
	} else if errors.Is(err, vnfm.ErrNotFound) {
		r.checkTargets(ctx, err, plan, state, spec, diags)
	}
	if errors.Is(err, vnfm.ErrNotFound) {
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Preview", r.config.titled(spec.Name), err, r.config.ContentPath)
		return
	}
	diags.Append(tfutil.Problems(r.beforeDestroy(ctx, plan, state, spec, true, problems), r.config.ContentPath)...)
	if !problems.HasErrors() && preview != nil && !preview.NamespaceNeeded {
		plan.SetPreview(preview)
	}
}

// warnOfExisting warns if the plan creates an instance that exists already. Terraform plans the replacement of a tainted resource as such
// a creation, without its state. It does the same for -replace, but does not show the warning.
func (r *InstanceResource[M, P]) warnOfExisting(ctx context.Context, spec vnfm.InstanceSpec, manager vnfm.Manager, diags *diag.Diagnostics) {
	name := spec.Name
	found, err := manager.Existing(ctx, spec)
	if errors.Is(err, vnfm.ErrNotFound) {
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Plan", r.config.titled(name), err, path.Empty())
		return
	}
	if !r.config.Owns(found) || !found.Acknowledged {
		return
	}
	if found.Status != vnfm.StatusFailedTemp {
		diags.AddWarning(r.config.titled(name)+" Exists", fmt.Sprintf("If this plan replaces the %[1]s because it is tainted, the apply removes it first, with all that runs there: run \"terraform untaint\" with its address to keep it. "+
			"If another configuration manages it, or none, the apply rejects the creation: choose another name or namespace, or import it by its id %[2]s.\n\n"+
			"With create_before_destroy its creation is rejected, because the name is taken until the former %[1]s is destroyed.", r.config.Noun, found.ID))
		return
	}
	diags.AddWarning(r.config.titled(name)+" Exists and Is Incomplete", fmt.Sprintf("Its last operation failed, and what it has made is kept. "+
		"If this plan replaces the %[1]s because it is tainted, the apply destroys what exists and starts over. To continue where it stopped instead, run \"terraform untaint\" with its address and apply.\n\n"+
		"With create_before_destroy its creation is rejected, because the name is taken until the former %[1]s is destroyed: run \"terraform untaint\" there. The same holds if another configuration manages it.", r.config.Noun))
}

// planProgress marks status and generation unknown when an operation will run, which leaves no drift.
// The framework does that only when something else differs already, which is not
// so when an interrupted operation is to be resumed.
func planProgress(plan, state *InstanceModel, runs bool) {
	if runs {
		plan.Status, plan.Generation, plan.Drift = types.StringUnknown(), types.Int64Unknown(), types.ListNull(types.StringType)
		return
	}
	plan.Status, plan.Generation, plan.Drift = state.Status, state.Generation, state.Drift
}

func (r *InstanceResource[M, P]) needsOperation(ctx context.Context, m P, state *M) bool {
	plan, before := m.Common(), P(state).Common()
	if before.Status.ValueString() != r.config.CompletedStatus || plan.heals(before) || attrs.SinkMoved(plan.Sink, before.Sink) {
		return true
	}
	return !plan.Objects.same(before.Objects) || !AllEqual([][2]attr.Value{{m.VIM(), P(state).VIM()}, {plan.Namespace, before.Namespace}}) || m.Differs(ctx, state)
}

// AllEqual reports whether the values of each pair are equal.
func AllEqual(pairs [][2]attr.Value) bool {
	return !slices.ContainsFunc(pairs, func(pair [2]attr.Value) bool { return !pair[0].Equal(pair[1]) })
}

// argumentsDiffer reports whether a plan differs from the state in what a configuration can set, but for some arguments.
func argumentsDiffer(state *tfsdk.State, plan *tfsdk.Plan, except ...string) bool {
	var before, after map[string]tftypes.Value
	if state.Raw.As(&before) != nil || plan.Raw.As(&after) != nil {
		return true
	}
	for name, a := range plan.Schema.GetAttributes() {
		if (a.IsRequired() || a.IsOptional()) && !slices.Contains(except, name) && !after[name].Equal(before[name]) {
			return true
		}
	}
	return false
}

// dryRun has the VIM try the objects that the plan adds or changes, and look at what it removes. Where the VIM or
// the objects are not known yet there is nothing to try, and a plan that changes no
// object asks for nothing. asked is set when an argument asks for what is tried.
func (r *InstanceResource[M, P]) dryRun(ctx context.Context, m P, state *M, spec vnfm.InstanceSpec, asked bool, diags *diag.Diagnostics) {
	plan := m.Common()
	if !plan.ServerDryRun.ValueBool() || !tfutil.Set(m.VIM()) || plan.Objects == nil || (state != nil && !m.VIM().Equal(P(state).VIM())) {
		return
	}
	keys := slices.Sorted(maps.Keys(changedFrom(plan, priorModel[M, P](state))))
	if state != nil {
		keys = append(keys, m.Tried(state)...)
		keys = append(keys, plan.Objects.leftFrom(P(state).Common().Objects)...)
	}
	if len(keys) == 0 {
		return
	}
	problems, err := r.data.Manager.DryRunInstance(ctx, idOf[M, P](state), spec, keys)
	// Of several VIMs some may have answered.
	diags.Append(tfutil.Problems(r.beforeDestroy(ctx, m, state, spec, asked, problems), r.config.ContentPath)...)
	switch {
	case err == nil, errors.Is(err, vnfm.ErrNotFound):
		// A VIM or package that is not found is registered by the same apply.
	case vnfm.LacksRightsOnly(err):
		r.data.WarnUnchecked(ctx, diags, r.config.titled(spec.Name), err)
	default:
		diags.AddAttributeWarning(path.Root(r.config.VIMAttribute), fmt.Sprintf("Plan of %s Was Not Checked on the VIM", r.config.titled(spec.Name)), tfutil.ErrorDetail(err))
	}
}

// beforeDestroy are the problems of a plan that may precede a destroy, which the provider cannot tell. They are warnings where no
// argument asks for what is rejected, as in a repair, and where the last operation did not complete. Else the last error says how a
// destroy goes on.
func (r *InstanceResource[M, P]) beforeDestroy(ctx context.Context, plan P, state *M, spec vnfm.InstanceSpec, asked bool, problems vnfm.Problems) vnfm.Problems {
	switch {
	case !problems.HasErrors():
		return problems
	case !asked:
		return warnings(problems, "No argument has changed")
	case r.isIncomplete(ctx, plan, state, spec):
		return warnings(problems, "The last operation did not complete")
	}
	out := slices.Clone(problems)
	for i := range slices.Backward(out) {
		if p := &out[i]; p.Severity == vnfm.SeverityError {
			p.Detail = withSentence(p.Detail, `If this stops a destroy, "terraform destroy -refresh=false" goes on: it plans no change first`)
			break
		}
	}
	return out
}

// isIncomplete reports whether the last operation of an instance did not complete, or its creation did not. Terraform plans what
// replaces a tainted resource without its state.
func (r *InstanceResource[M, P]) isIncomplete(ctx context.Context, plan P, state *M, spec vnfm.InstanceSpec) bool {
	if state != nil {
		return P(state).Common().Status.ValueString() != r.config.CompletedStatus
	}
	if !tfutil.Set(plan.VIM()) || spec.Name == "" {
		return false
	}
	found, err := r.data.Manager.Instances(ctx, vnfm.InstanceFilter{VIMID: spec.VIMID, Namespace: spec.Namespace, Name: spec.Name})
	return err == nil && slices.ContainsFunc(found, func(i vnfm.Instance) bool { return r.config.Owns(&i) && i.Status != vnfm.StatusInstantiated })
}

// warnings are problems that do not stop a plan, and why: the apply finds them again.
func warnings(problems vnfm.Problems, why string) vnfm.Problems {
	out := slices.Clone(problems)
	for i := range out {
		if p := &out[i]; p.Severity == vnfm.SeverityError {
			p.Severity = vnfm.SeverityWarning
			p.Detail = withSentence(p.Detail, why+", so that a destroy goes on: an apply is rejected")
		}
	}
	return out
}

// withSentence adds a sentence to the detail of a problem.
func withSentence(detail, sentence string) string {
	return strings.TrimPrefix(strings.TrimSuffix(detail, ".")+". "+sentence, ". ")
}
