package base

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Create implements resource.Resource. How it can end, and what state that leaves, is
// described at endCreate.
func (r *InstanceResource[M, P]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer r.config.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan M
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	ctx, manager, spec := r.prepare(ctx, &plan, nil, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	spec.Arguments = r.arguments(ctx, req.Plan.Raw)
	var said warningList
	spec.Warn = said.add
	defer func() { said.warn(r.config.ContentPath, &resp.Diagnostics) }()
	m := P(&plan)
	ctx, cancel := tfutil.WithTimeout(ctx, m.Common().Timeouts.Create, r.config.CreateLimit, &resp.Diagnostics)
	defer cancel()
	instance, err := manager.Instantiate(m.Common().withLockTimeout(ctx), spec)
	if err != nil {
		instance = r.endCreate(spec, err, &resp.Diagnostics)
	}
	if instance == nil {
		return
	}
	m.SetRecord(ctx, instance, &resp.Diagnostics)
	m.Finish(ctx, manager, instance, &resp.Diagnostics)
	r.fillObjects(ctx, m, manager, instance, spec)
	m.Common().writeObjects(ctx, resp.Private, &resp.Diagnostics)
	r.keepVIMs(context.WithoutCancel(ctx), resp.Private, instance, &resp.Diagnostics)
	r.keepPackage(context.WithoutCancel(ctx), nil, resp.Private, instance, &resp.Diagnostics)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
}

// fillObjects fills the digests that neither plan nor Prepare could compute: those with the
// key of an instance that has just been made. Unavailable values are left out, and
// the next refresh shows them.
func (r *InstanceResource[M, P]) fillObjects(ctx context.Context, m P, manager vnfm.Manager, instance *vnfm.Instance, spec vnfm.InstanceSpec) {
	common := m.Common()
	if common.Objects.known() {
		return
	}
	// It asks the VIM for nothing, and is worth its time when the user has interrupted.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fillLimit)
	defer cancel()
	if spec.Cluster != nil && instance.Cluster != nil {
		// The operation has chosen it where nothing was said.
		cluster := *spec.Cluster
		cluster.APIVersion, spec.Cluster = instance.Cluster.APIVersion, &cluster
	}
	if preview, problems, err := manager.PreviewInstance(ctx, instance.ID, spec); err == nil && !problems.HasErrors() && preview != nil {
		m.SetPreview(preview)
	}
	maps.DeleteFunc(common.Objects, func(_, digest string) bool { return digest == "" })
}

// endCreate says how a creation that failed ends. Nothing exists: an error and no
// state. Something exists: an error and state, which Terraform marks as tainted. The user
// wants to resume, or has interrupted the run or cancelled the operation: a warning and state, since
// the next apply would destroy what is tainted.
func (r *InstanceResource[M, P]) endCreate(spec vnfm.InstanceSpec, err error, diags *diag.Diagnostics) *vnfm.Instance {
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil {
		tfutil.AddError(diags, r.config.CreateVerb, r.config.titled(spec.Name), err, path.Empty())
		return nil
	}
	if spec.OnFailure != vnfm.OnFailureResume && !vnfm.Interrupted(err) {
		tfutil.AddCreateError(diags, r.config.CreateVerb, r.config.titled(spec.Name), err)
		return failed.Instance
	}
	diags.AddWarning(r.config.titled(spec.Name)+" "+r.config.IncompleteSummary, tfutil.ErrorDetail(err))
	return failed.Instance
}

// prepare gets what Create, where there is no state, and Update need, fills what a plan
// with unknown values could not show, and masks the secrets of the configuration in logs.
func (r *InstanceResource[M, P]) prepare(ctx context.Context, plan, state *M, config tfsdk.Config, diags *diag.Diagnostics) (context.Context, vnfm.Manager, vnfm.InstanceSpec) {
	var spec vnfm.InstanceSpec
	manager := r.data.RequireManager(diags)
	if diags.HasError() {
		return ctx, nil, spec
	}
	spec, known := r.spec(ctx, plan, state, diags)
	if !known {
		diags.AddError("Unknown Values", fmt.Sprintf("The arguments of the %s are not known during apply. This is always a bug in the provider and should be reported to its developers.", r.config.Noun))
	}
	if diags.HasError() {
		return ctx, nil, spec
	}
	var configured M
	if diags.Append(tfutil.Read(ctx, config, &configured)...); diags.HasError() {
		return ctx, nil, spec
	}
	secrets := P(plan).Conceal(ctx, &configured, &spec, diags)
	ctx = tfutil.Mask(ctx, secrets...)
	P(plan).Prepare(ctx, manager, idOf[M, P](state), &configured, &spec, diags)
	if !diags.HasError() {
		r.fillWords(ctx, P(plan), state, spec)
	}
	return attrs.WithSink(ctx, config, &spec, diags), manager, spec
}

// spec reads what the user wants, with the defaults of the provider and without a heal that was run already.
func (r *InstanceResource[M, P]) spec(ctx context.Context, plan, state *M, diags *diag.Diagnostics) (vnfm.InstanceSpec, bool) {
	spec, known := P(plan).Spec(ctx, state, diags)
	spec.OnFailure = cmp.Or(spec.OnFailure, r.data.DefaultOnFailure())
	if state == nil && spec.AdoptExisting && spec.OnFailure == vnfm.OnFailureRollback {
		diags.AddAttributeError(path.Root("on_failure"), "An Adoption Cannot Be Rolled Back",
			"on_failure = \"rollback\" removes what a failed creation has made. It cannot give back what adopt_existing has changed of objects that existed before, and a stack would be removed with all that it held. "+
				"Set on_failure = \"resume\" for the first apply: the next one continues where it stopped.")
	}
	if state != nil && !P(plan).Common().heals(P(state).Common()) {
		spec.Heal = nil
	}
	return spec, known
}

// Update implements resource.Resource. When an operation fails the state tells
// how far the instance came, and the next apply goes on from there.
func (r *InstanceResource[M, P]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.config.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan M
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	state := r.state(ctx, req.State, req.Private, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() && changesOnUnreachableAlone(req.Plan.Raw, req.State.Raw) {
		setOnUnreachable(P(state).Common(), P(&plan).Common())
		keepWords(P(state).Common(), P(&plan).Common())
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, state)...)
		return
	}
	ctx, manager, spec := r.prepare(ctx, &plan, state, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	m, before := P(&plan), P(state)
	ctx, cancel := tfutil.WithTimeout(ctx, m.Common().Timeouts.Update, r.config.UpdateLimit, &resp.Diagnostics)
	defer cancel()
	spec.Known, spec.Arguments = r.known(before), r.arguments(ctx, req.Plan.Raw)
	var said warningList
	spec.Warn = said.add
	defer func() { said.warn(r.config.ContentPath, &resp.Diagnostics) }()
	err := r.ensureAll(ctx, before, req.State, req.Private, &resp.Diagnostics)
	var instance *vnfm.Instance
	if err == nil {
		instance, err = manager.Update(m.Common().withLockTimeout(ctx), before.Common().ID.ValueString(), spec)
	}
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Update", r.config.titled(spec.Name), err, path.Empty())
		var failed *vnfm.OperationError
		if errors.As(err, &failed) && failed.Instance != nil {
			before.SetRecord(ctx, failed.Instance, &resp.Diagnostics)
		}
		// A destroy is given the state alone, and may be what the user does next.
		before.SetTermination(&plan)
		setOnUnreachable(before.Common(), m.Common())
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, state)...)
		return
	}
	planned := m.Common().Generation
	m.SetRecord(ctx, instance, &resp.Diagnostics)
	m.Finish(ctx, manager, instance, &resp.Diagnostics)
	r.fillObjects(ctx, m, manager, instance, spec)
	if !planned.IsUnknown() {
		// What the plan did not see was repaired: the record was written again, or something was missing. Terraform
		// holds a provider to the plan; the next refresh shows the generation.
		m.Common().Generation = planned
	}
	m.Common().writeObjects(ctx, resp.Private, &resp.Diagnostics)
	r.keepVIMs(context.WithoutCancel(ctx), resp.Private, instance, &resp.Diagnostics)
	r.keepPackage(context.WithoutCancel(ctx), req.Private, resp.Private, instance, &resp.Diagnostics)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
}

// Delete implements resource.Resource.
func (r *InstanceResource[M, P]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state := r.state(ctx, req.State, req.Private, &resp.Diagnostics)
	manager := r.data.RequireManager(&resp.Diagnostics)
	spec := P(state).TerminateSpec(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	common := P(state).Common()
	id, name := common.ID.ValueString(), common.Name.ValueString()
	ctx, cancel := tfutil.WithTimeout(ctx, common.Timeouts.Delete, r.config.DeleteLimit, &resp.Diagnostics)
	defer cancel()
	var left leftBehind
	spec.LeftBehind = left.add
	spec.OnUnreachable, spec.DefaultOnUnreachable = r.onUnreachable(common)
	defer func() { left.warn(fmt.Sprintf("%s %q", r.config.Noun, name), r.config.VIMNoun, &resp.Diagnostics) }()
	if err := r.ensureVIMs(ctx, req.Private, &resp.Diagnostics); err != nil {
		tfutil.AddError(&resp.Diagnostics, r.config.RemoveVerb, r.config.titled(name), err, path.Empty())
		return
	}
	err := manager.Terminate(common.withLockTimeout(ctx), id, spec)
	var lost error
	if vnfm.IsMissing(err, id) {
		// A destroy needs the record, and not what is looked at to refresh it. The package tells which management drivers work at the end.
		if packageErr := r.ensurePackage(ctx, req.Private, &resp.Diagnostics); packageErr != nil {
			resp.Diagnostics.AddWarning(fmt.Sprintf("Package of %s Could Not Be Read", r.config.titled(name)),
				tfutil.ErrorDetail(packageErr)+"\n\nThe destroy goes on without the management drivers that its VNFD may name.")
		}
		if _, lost = r.recover(ctx, state, req.State, true); lost != nil {
			err = errors.Join(err, lost)
		} else {
			err = manager.Terminate(common.withLockTimeout(ctx), id, spec)
		}
	}
	switch {
	case vnfm.IsMissing(lost, P(state).VIM().ValueString()):
		vim := r.vimName(ctx, req.Private, P(state).VIM().ValueString(), &resp.Diagnostics)
		resp.Diagnostics.AddError(fmt.Sprintf("Record of %s Is Missing", r.config.titled(name)), fmt.Sprintf(
			"The store of this run has neither the %s nor its %s %s, and a destroy gets no credentials.\n\n"+
				"Run terraform apply first, which registers the %[2]s again, then destroy; or give the connection in the argument \"vims\" of the provider.", r.config.Noun, r.config.VIMNoun, vim))
	case vnfm.IsMissing(err, id):
		resp.Diagnostics.AddError(fmt.Sprintf("Record of %s Is Missing", r.config.titled(name)),
			tfutil.ErrorDetail(err)+fmt.Sprintf("\n\nObjects of the %s may still exist on the %s. Its record could not be written again from Terraform's state. Correct the cause, or run terraform apply first, which writes the records of VIM, package and %[1]s again; then destroy.", r.config.Noun, r.config.VIMNoun))
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, r.config.RemoveVerb, r.config.titled(name), err, path.Empty())
	}
}

// onUnreachable is what a destroy does whose VIM cannot be reached: by the resource, and by the provider where neither the resource nor
// the VIM says it.
func (r *InstanceResource[M, P]) onUnreachable(state *InstanceModel) (own, fallback vnfm.OnUnreachable) {
	return vnfm.OnUnreachable(state.OnUnreachable.ValueString()), r.data.DefaultOnUnreachable()
}
