// Package workloadcluster holds the resource and the data source for workload
// clusters of Cluster API, and those that hand out their kubeconfigs.
package workloadcluster

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
const ResourceType = "vnf_capi_workload_cluster"

// Default time limits of the operations: a machine takes minutes, and machines are
// replaced one after the other.
const (
	defaultCreateTimeout = 60 * time.Minute
	defaultReadTimeout   = 2 * time.Minute
	defaultUpdateTimeout = 90 * time.Minute
	defaultDeleteTimeout = 60 * time.Minute
	defaultLockTimeout   = "30s"
)

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
)

// Resource is vnf_capi_workload_cluster.
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

// Create implements resource.Resource. A creation that stops half-way is a warning
// with a state that says so: an error would taint the cluster, and the next apply
// would destroy it.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	manager, spec := r.prepare(ctx, &plan, &resp.Diagnostics)
	ctx = tfutil.WithSink(ctx, req.Config, &spec, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Create, defaultCreateTimeout, &resp.Diagnostics)
	defer cancel()
	instance, err := manager.Instantiate(plan.patient(ctx), spec)
	var failed *vnfm.OperationError
	switch {
	case err == nil:
	case !errors.As(err, &failed) || failed.Instance == nil:
		tfutil.AddError(&resp.Diagnostics, "Create", titled(spec.Name), err, path.Empty())
		return
	case spec.OnFailure == vnfm.OnFailureRollback && !errors.Is(err, context.Canceled):
		tfutil.AddError(&resp.Diagnostics, "Create", titled(spec.Name), err, path.Empty())
		instance = failed.Instance
	default:
		resp.Diagnostics.AddWarning(titled(spec.Name)+" Is Not Ready Yet", tfutil.ErrorDetail(err))
		instance = failed.Instance
	}
	r.finish(ctx, manager, &plan, instance, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// prepare gets what Create and Update need, and fills what a plan with unknown values
// could not show.
func (r *Resource) prepare(ctx context.Context, plan *model, diags *diag.Diagnostics) (vnfm.Manager, vnfm.InstanceSpec) {
	manager := r.data.RequireManager(diags)
	if diags.HasError() {
		return nil, vnfm.InstanceSpec{}
	}
	if plan.Namespace.IsUnknown() {
		vim, err := manager.VIM(ctx, plan.VIMID.ValueString())
		if err != nil {
			tfutil.AddError(diags, "Read the Management Cluster of", titled(plan.Name.ValueString()), err, path.Root("vim_id"))
			return nil, vnfm.InstanceSpec{}
		}
		plan.Namespace = types.StringValue(vim.DefaultNamespace())
	}
	spec, known := plan.spec(ctx, diags)
	if !known {
		diags.AddError("Unknown Values", tfutil.ErrorDetail(errUnknown)+" This is always a bug in the provider and should be reported to its developers.")
	}
	return manager, spec
}

// finish fills the state with what the record and the management cluster say after an
// operation. What cannot be looked at is left for the next refresh.
func (r *Resource) finish(ctx context.Context, manager vnfm.Manager, m *model, instance *vnfm.Instance, diags *diag.Diagnostics) {
	m.setRecord(instance)
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	if errors.Is(ctx.Err(), context.Canceled) {
		cancel()
		look, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	}
	defer cancel()
	if m.Objects.IsUnknown() {
		spec, known := m.spec(ctx, diags)
		m.Objects = types.MapNull(types.StringType)
		if known {
			if preview, _, err := manager.PreviewInstance(look, spec); err == nil && preview != nil {
				m.Objects = tfutil.StringMap(preview.Objects)
			}
		}
	}
	seen, err := manager.Observe(look, instance.ID)
	if err != nil {
		seen = &vnfm.Observation{}
	}
	m.observed = newObserved(seen.Cluster)
}

// Read implements resource.Resource. A record that the store has lost, or a
// management cluster that does not answer, is never taken for a cluster that is gone.
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
	id, name := state.ID.ValueString(), state.Name.ValueString()
	instance, err := r.data.Manager.Instance(ctx, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		state.Status = types.StringValue(string(vnfm.StatusUnknown))
		diags.AddWarning("Record of "+titled(name)+" Is Missing",
			tfutil.ErrorDetail(err)+"\n\nTerraform's state is kept. The next apply writes the record again from the configuration and from what the management cluster shows.")
		return
	}
	if err != nil {
		tfutil.AddError(diags, "Read", titled(name), err, path.Empty())
		return
	}
	state.setRecord(instance)
	seen, err := r.data.Manager.Observe(ctx, id)
	if err == nil {
		state.observed, state.Objects = newObserved(seen.Cluster), tfutil.StringMap(seen.Objects)
		if seen.Cluster != nil {
			warnOfExpiry(instance.Name, seen.Cluster.KubeconfigNotAfter, diags)
		}
		return
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		tfutil.AddError(diags, "Read", titled(name), err, path.Empty())
		return
	}
	if state.NodeGroupStatus.IsNull() {
		state.observed = newObserved(nil)
	}
	if state.Objects.IsNull() {
		state.Objects = tfutil.StringMap(nil)
	}
	diags.AddWarning(titled(instance.Name)+" Could Not Be Looked At",
		tfutil.ErrorDetail(err)+"\n\nThe plan goes on with what was known of it; drift is not seen.")
}

// Update implements resource.Resource. When an operation fails the state tells how
// far the cluster came, and the next apply goes on from there.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	manager, spec := r.prepare(ctx, &plan, &resp.Diagnostics)
	ctx = tfutil.WithSink(ctx, req.Config, &spec, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Update, defaultUpdateTimeout, &resp.Diagnostics)
	defer cancel()
	spec.KnownGeneration = state.Generation.ValueInt64()
	if !regenerates(&plan, &state) {
		spec.RotationTrigger = ""
	}
	if !heals(&plan, &state) {
		spec.Heal = nil
	}
	instance, err := manager.Update(plan.patient(ctx), state.ID.ValueString(), spec)
	if err == nil {
		r.finishUpdate(ctx, manager, &plan, instance, &resp.Diagnostics)
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		return
	}
	tfutil.AddError(&resp.Diagnostics, "Update", titled(spec.Name), err, path.Empty())
	var failed *vnfm.OperationError
	if errors.As(err, &failed) && failed.Instance != nil {
		state.setRecord(failed.Instance)
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

// finishUpdate is finish for a plan that may have said what the state will be.
func (r *Resource) finishUpdate(ctx context.Context, manager vnfm.Manager, plan *model, instance *vnfm.Instance, diags *diag.Diagnostics) {
	planned := *plan
	r.finish(ctx, manager, plan, instance, diags)
	if planned.Phase.IsUnknown() {
		return
	}
	// Nothing was planned for the cluster itself: Terraform holds a provider to the
	// plan, and the next refresh shows what has changed since.
	plan.observed, plan.Generation = planned.observed, planned.Generation
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	manager := r.data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	name := state.Name.ValueString()
	ctx, cancel := tfutil.WithTimeout(ctx, state.Timeouts.Delete, defaultDeleteTimeout, &resp.Diagnostics)
	defer cancel()
	spec := vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesKeep, LeftBehind: func(object, reason string) {
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s Was Left Behind", object),
			fmt.Sprintf("It belonged to workload cluster %q and stays on the management cluster: %s.", name, reason))
	}}
	err := manager.Terminate(state.patient(ctx), state.ID.ValueString(), spec)
	var missing *vnfm.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.ID == state.ID.ValueString():
		resp.Diagnostics.AddError("Record of "+titled(name)+" Is Missing",
			tfutil.ErrorDetail(err)+"\n\nThe cluster may still stand, and without its record nothing is removed. Run terraform apply first: it writes the record again. Then destroy.")
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Remove", titled(name), err, path.Empty())
	}
}

// ImportState implements resource.ResourceWithImportState. The id is that of the
// cluster in the store.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	manager := r.data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	instance, err := find(ctx, manager, req.ID)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Import", titled(req.ID), err, path.Empty())
		return
	}
	for name, value := range map[string]any{
		"id": instance.ID, "force_conflicts": false, "adopt_existing": false, "server_dry_run": true, "lock_timeout": defaultLockTimeout, "paused": instance.Cluster.Paused,
	} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), value)...)
	}
}

// find looks a workload cluster up by its id, or by "<vim id>/<namespace>/<name>".
func find(ctx context.Context, manager vnfm.Manager, id string) (*vnfm.Instance, error) {
	parts := strings.Split(id, "/")
	if len(parts) != 3 {
		instance, err := manager.Instance(ctx, id)
		if err == nil && instance.Cluster == nil {
			return nil, &vnfm.NotFoundError{Kind: "workload cluster", ID: id}
		}
		return instance, err
	}
	all, err := manager.Instances(ctx, vnfm.InstanceFilter{VIMID: parts[0], Namespace: parts[1], Name: parts[2]})
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Cluster != nil {
			return &all[i], nil
		}
	}
	return nil, &vnfm.NotFoundError{Kind: "workload cluster", ID: id}
}

// titled names a cluster in the summary of a diagnostic.
func titled(name string) string { return fmt.Sprintf("Workload Cluster %q", name) }
