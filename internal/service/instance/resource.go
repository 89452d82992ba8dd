// Package instance holds the vnf_instance resource and the data sources that look
// at VNF instances and their LCM operations.
package instance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ResourceType is the type name of the resource.
const ResourceType = "vnf_instance"

// Default time limits of the operations.
const (
	defaultCreateTimeout = 30 * time.Minute
	defaultReadTimeout   = 2 * time.Minute
	defaultUpdateTimeout = 30 * time.Minute
	defaultDeleteTimeout = 15 * time.Minute
	defaultLockTimeout   = "30s"
)

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
)

// Resource is vnf_instance.
type Resource struct{ data *tfutil.ProviderData }

// NewResource returns the resource.
func NewResource() resource.Resource { return &Resource{} }

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = ResourceType
}

// Configure implements resource.ResourceWithConfigure.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = resourceSchema(ctx)
}

// Create implements resource.Resource. How it can end, and what state that
// leaves, is described at endCreate.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	manager, spec := r.prepare(ctx, &plan, nil, &resp.Diagnostics)
	ctx = tfutil.WithSink(ctx, req.Config, &spec, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Create, defaultCreateTimeout, &resp.Diagnostics)
	defer cancel()
	instance, err := manager.Instantiate(plan.patient(ctx), spec)
	if err != nil {
		instance = endCreate(spec, err, &resp.Diagnostics)
	}
	if instance == nil {
		return
	}
	plan.setRecord(ctx, instance, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// endCreate says how a creation that failed ends. Nothing exists: an error and no
// state. Something exists and the user wants to resume: a warning and state, since
// an error with state would taint the instance and the next apply would destroy
// it. Something exists although it should have been rolled back: an error and state.
func endCreate(spec vnfm.InstanceSpec, err error, diags *diag.Diagnostics) *vnfm.Instance {
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil {
		tfutil.AddError(diags, "Instantiate", fmt.Sprintf("VNF Instance %q", spec.Name), err, path.Empty())
		return nil
	}
	if spec.OnFailure == vnfm.OnFailureRollback && !errors.Is(err, context.Canceled) {
		tfutil.AddError(diags, "Instantiate", fmt.Sprintf("VNF Instance %q", spec.Name), err, path.Empty())
		return failed.Instance
	}
	diags.AddWarning(fmt.Sprintf("VNF Instance %q Is Not Instantiated Yet", spec.Name), tfutil.ErrorDetail(err))
	return failed.Instance
}

// prepare gets what Create, where there is no state, and Update need and fills what
// a plan with unknown values could not show.
func (r *Resource) prepare(ctx context.Context, plan, state *model, diags *diag.Diagnostics) (vnfm.Manager, vnfm.InstanceSpec) {
	var spec vnfm.InstanceSpec
	manager := r.data.RequireManager(diags)
	if diags.HasError() {
		return nil, spec
	}
	spec, known := plan.spec(ctx, diags)
	if !known {
		diags.AddError("Unknown Values", "The arguments of the VNF instance are not known during apply. This is always a bug in the provider and should be reported to its developers.")
	}
	if diags.HasError() {
		return nil, spec
	}
	if state != nil && !heals(plan, state) {
		spec.Heal = nil
	}
	preview, problems, err := manager.PreviewInstance(ctx, spec)
	if err == nil && preview != nil && preview.NamespaceNeeded {
		var vim *vnfm.VIM
		if vim, err = manager.VIM(ctx, spec.VIMID); err == nil {
			spec.Namespace = vim.DefaultNamespace()
			preview, problems, err = manager.PreviewInstance(ctx, spec)
		}
	}
	if err != nil {
		tfutil.AddError(diags, "Read the Package of", fmt.Sprintf("VNF Instance %q", spec.Name), err, path.Root("package_id"))
		return nil, spec
	}
	if problems.HasErrors() {
		diags.Append(tfutil.Problems(problems, path.Root("package_id"))...)
		return nil, spec
	}
	plan.setPreview(preview)
	return manager, spec
}

// Read implements resource.Resource. A record that the store has lost, or a VIM
// that does not answer, is never taken for an instance that is gone.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() || !r.data.Known() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, state.Timeouts.Read, defaultReadTimeout, &resp.Diagnostics)
	defer cancel()
	r.refresh(ctx, &state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *Resource) refresh(ctx context.Context, state *model, diags *diag.Diagnostics) {
	id := state.ID.ValueString()
	instance, err := r.data.Manager.Instance(ctx, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		state.Status = types.StringValue(string(vnfm.StatusUnknown))
		diags.AddWarning(fmt.Sprintf("Record of VNF Instance %q Is Missing", state.Name.ValueString()),
			tfutil.ErrorDetail(err)+"\n\nTerraform's state is kept. The next apply writes the record again from the configuration and from what the VIM shows.")
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Read", fmt.Sprintf("VNF Instance %q", id), err, path.Empty())
		return
	}
	state.setRecord(ctx, instance, diags)
	seen, err := r.data.Manager.Observe(ctx, id)
	if err == nil {
		state.setObservation(ctx, seen)
		return
	}
	// A VIM that answers too late is one that does not answer; only the user ends
	// the plan.
	if errors.Is(ctx.Err(), context.Canceled) {
		tfutil.AddError(diags, "Read", fmt.Sprintf("VNF Instance %q", instance.Name), err, path.Empty())
		return
	}
	switch {
	case seen != nil:
		state.setObservation(ctx, seen)
	case state.VDUs.IsNull():
		state.setObservation(ctx, &vnfm.Observation{})
	}
	diags.AddWarning(fmt.Sprintf("VNF Instance %q Could Not Be Looked At", instance.Name),
		tfutil.ErrorDetail(err)+"\n\nThe plan goes on with what was known of it; drift is not seen there.")
}

// Update implements resource.Resource. When an operation fails the state tells
// how far the instance came, and the next apply goes on from there.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	manager, spec := r.prepare(ctx, &plan, &state, &resp.Diagnostics)
	ctx = tfutil.WithSink(ctx, req.Config, &spec, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Update, defaultUpdateTimeout, &resp.Diagnostics)
	defer cancel()
	spec.KnownGeneration = state.Generation.ValueInt64()
	instance, err := manager.Update(plan.patient(ctx), state.ID.ValueString(), spec)
	if err == nil {
		planned := plan.Generation
		plan.setRecord(ctx, instance, &resp.Diagnostics)
		if !planned.IsUnknown() {
			// Something drifted after the plan and was put right by the way. Terraform
			// holds a provider to the plan; the next refresh shows the generation.
			plan.Generation = planned
		}
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		return
	}
	tfutil.AddError(&resp.Diagnostics, "Update", fmt.Sprintf("VNF Instance %q", spec.Name), err, path.Empty())
	var failed *vnfm.OperationError
	if errors.As(err, &failed) && failed.Instance != nil {
		state.setRecord(ctx, failed.Instance, &resp.Diagnostics)
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	manager := r.data.RequireManager(&resp.Diagnostics)
	spec := state.terminateSpec(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, state.Timeouts.Delete, defaultDeleteTimeout, &resp.Diagnostics)
	defer cancel()
	spec.LeftBehind = func(object, reason string) {
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s Was Left Behind", object),
			fmt.Sprintf("It belonged to VNF instance %q and stays on the VIM: %s.", state.Name.ValueString(), reason))
	}
	err := manager.Terminate(state.patient(ctx), state.ID.ValueString(), spec)
	var missing *vnfm.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.ID == state.ID.ValueString():
		resp.Diagnostics.AddError(fmt.Sprintf("Record of VNF Instance %q Is Missing", state.Name.ValueString()),
			tfutil.ErrorDetail(err)+"\n\nWhat the instance consists of may still stand on the VIM, and without its record nothing can be removed. Run terraform apply first: it writes the record again. Then destroy.")
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Terminate", fmt.Sprintf("VNF Instance %q", state.Name.ValueString()), err, path.Empty())
	}
}

// ImportState implements resource.ResourceWithImportState. The id is that of the
// instance, or <vim id>/<namespace>/<name>.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	manager := r.data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := req.ID
	if parts := strings.Split(req.ID, "/"); len(parts) == 3 {
		instance, err := manager.InstanceByName(ctx, parts[0], parts[1], parts[2])
		if err != nil {
			tfutil.AddError(&resp.Diagnostics, "Import", fmt.Sprintf("VNF Instance %q", req.ID), err, path.Empty())
			return
		}
		id = instance.ID
	} else if _, err := manager.Instance(ctx, id); err != nil {
		tfutil.AddError(&resp.Diagnostics, "Import", fmt.Sprintf("VNF Instance %q", req.ID), err, path.Empty())
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("force_conflicts"), false)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("adopt_existing"), false)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("server_dry_run"), true)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("lock_timeout"), defaultLockTimeout)...)
}
