// Package privateregistry holds the resource and the data source vnf_private_registry, and
// vnf_private_registries.
package privateregistry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ResourceType is the type name of the resource and of the data source.
const ResourceType = "vnf_private_registry"

const (
	installTimeout = 30 * time.Minute
	readTimeout    = 30 * time.Second
	removeTimeout  = 5 * time.Minute
)

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
	_ resource.ResourceWithIdentity    = (*Resource)(nil)
)

// Resource implements the resource vnf_private_registry.
type Resource struct{ base.Resource }

// identity is what identifies the resource: name and host may change.
var identity = base.Identity{{Name: "id", Description: "Id of the registry."}}

// NewResource returns the resource vnf_private_registry.
func NewResource() resource.Resource {
	return &Resource{base.Resource{Type: ResourceType, Identity: identity}}
}

func object(name string) string { return fmt.Sprintf("Private Registry %q", name) }

// ModifyPlan implements resource.ResourceWithModifyPlan: it finds what is wrong before
// anything is done, and plans an installation when one is needed.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, config, state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	}
	base.ReplaceFor(&req, resp, fixed...)
	if req.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0 {
		warnOfStop(&state, &resp.Diagnostics)
	}
	if req.Plan.Raw.IsNull() {
		return
	}
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if r.Data.Known() {
		if !req.State.Raw.IsNull() {
			r.checkHost(ctx, &plan, &state, &resp.Diagnostics)
		}
		if config.known(ctx) && tfutil.FullyKnown(ctx, plan.Name) {
			r.check(ctx, &plan, &config, resp)
		}
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		plan.Operations = plan.words(ctx, nil)
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
		return
	}
	if plan.asksFor(&state) || state.Status.ValueString() != statusReady && plan.OnUnreachable.Equal(state.OnUnreachable) {
		plan.setUnknown()
		plan.Operations = plan.words(ctx, &state)
	} else {
		plan.Operations = state.Operations
		// A change of on_unreachable alone is for a host that may be gone: nothing is repaired there.
		plan.Status, plan.Drift, plan.Address, plan.Server, plan.PinnedHostKeys = state.Status, state.Drift, state.Address, state.Server, state.PinnedHostKeys
		plan.URL, plan.ImageID, plan.OperatingSystem, plan.RuntimeVersion = state.URL, state.ImageID, state.OperatingSystem, state.RuntimeVersion
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
}

// checkHost rejects another instance that the store does not have: the registry would be removed for a host that was not seen.
func (r *Resource) checkHost(ctx context.Context, plan, state *model, diags *diag.Diagnostics) {
	id := plan.InstanceID.ValueString()
	if id == "" || plan.InstanceID.Equal(state.InstanceID) {
		return
	}
	if _, err := r.Data.Manager.Instance(ctx, id); vnfm.IsMissing(err, id) {
		diags.AddAttributeError(path.Root("instance_id"), fmt.Sprintf("VNF Instance of %s Not Found", object(state.Name.ValueString())),
			fmt.Sprintf("The store of this provider configuration has no VNF instance with the id %q. The argument takes the id of a VNF instance and not its name. "+
				"Refer to its resource, for example as vnf_instance.core.id. Nothing is changed or removed.", id))
	}
}

// check finds what is wrong with the configuration; defaults are in the plan alone.
func (r *Resource) check(ctx context.Context, plan, config *model, resp *resource.ModifyPlanResponse) {
	complete := *config
	complete.Name, complete.Port, complete.Runtime = plan.Name, plan.Port, plan.Runtime
	spec := complete.spec(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx = tfutil.Mask(ctx, secretsOf(&spec)...)
	problems, err := r.Data.Manager.CheckRegistry(ctx, spec)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Check", object(spec.Name), err, path.Empty())
		return
	}
	resp.Diagnostics.Append(tfutil.MaskDiagnostics(tfutil.Problems(problems, path.Empty()), secretsOf(&spec)...)...)
}

// asksFor reports whether the plan needs an installation.
func (m *model) asksFor(state *model) bool {
	return !m.Name.Equal(state.Name) || !m.Host.Equal(state.Host) || !m.InstanceID.Equal(state.InstanceID) || !m.InstanceGeneration.Equal(state.InstanceGeneration) ||
		!m.ConnectionPoint.Equal(state.ConnectionPoint) || !m.SSH.Equal(state.SSH) || !m.ImagePath.Equal(state.ImagePath) || !m.PackageID.Equal(state.PackageID) ||
		!m.ContainerImage.Equal(state.ContainerImage) || !m.Runtime.Equal(state.Runtime) || !m.Port.Equal(state.Port) || !m.TLS.Equal(state.TLS) || !m.Users.Equal(state.Users) ||
		!m.UsersWOVersion.Equal(state.UsersWOVersion) || !m.StoragePath.Equal(state.StoragePath) || !m.Proxy.Equal(state.Proxy)
}

// Create implements resource.Resource. An installation that fails after it has begun leaves state, which Terraform marks as tainted:
// a destroy removes what is on the host. One that the user has interrupted is continued by the next apply.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan, config model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Create, installTimeout, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	plan.fillWords(ctx, nil)
	if r.install(ctx, "Install", &plan, &config, &resp.Diagnostics) {
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
	}
}

// install installs the registry of a plan, which has the pinned keys of hosts that the state knows, and fills the plan. A plan
// without an id makes a new record. It reports whether the host has the registry, or a part of it.
func (r *Resource) install(ctx context.Context, verb string, plan, config *model, diags *diag.Diagnostics) (begun bool) {
	spec := plan.complete(config).spec(ctx, diags)
	manager := r.Data.RequireManager(diags)
	if diags.HasError() {
		return false
	}
	ctx, hide := tfutil.HideSecrets(ctx, diags, secretsOf(&spec)...)
	defer hide()
	made, err := manager.InstallRegistry(ctx, plan.ID.ValueString(), spec)
	switch {
	case err != nil && made != nil && errors.Is(ctx.Err(), context.Canceled):
		diags.AddWarning(object(spec.Name)+" Is Not Installed Yet", tfutil.ErrorDetail(err)+"\n\nThe next apply continues the installation.")
	case err != nil:
		tfutil.AddError(diags, verb, object(spec.Name), err, path.Empty())
	}
	if made != nil {
		plan.set(ctx, made, diags)
	}
	return made != nil
}

// complete is the configuration with the defaults of the plan, and what became known.
func (m *model) complete(config *model) *model {
	out := *m
	out.SSH, out.TLS, out.Users, out.UsersWO, out.Proxy = config.SSH, config.TLS, config.Users, config.UsersWO, config.Proxy
	return &out
}

// Read implements resource.Resource. A host that does not answer is never taken for a
// registry that is gone.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	if resp.Diagnostics.HasError() || !r.Data.Known() {
		return
	}
	// The next plan shows its own words alone.
	state.Operations = types.ListNull(types.StringType)
	ctx, cancel := tfutil.WithTimeout(vnfm.WithRefresh(ctx), state.Timeouts.Read, readTimeout, &resp.Diagnostics)
	defer cancel()
	id := state.ID.ValueString()
	seen, err := r.Data.Manager.ReadRegistry(ctx, id)
	if vnfm.IsMissing(err, id) {
		if !r.readLost(ctx, &state, &resp.Diagnostics) {
			resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
			return
		}
		seen, err = r.Data.Manager.ReadRegistry(ctx, id)
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled), err != nil && seen == nil:
		tfutil.AddError(&resp.Diagnostics, "Read", object(state.Name.ValueString()), err, path.Empty())
		return
	case errors.As(err, new(*vnfm.EditedError)):
		state.restore(seen)
		state.Status = types.StringValue(statusUnknown)
		resp.Diagnostics.AddAttributeWarning(path.Root("id"), "Record of "+object(state.Name.ValueString())+" Was Edited",
			tfutil.ErrorDetail(err)+"\n\nThe registry itself is untouched. The next apply writes the record again, as it is configured.")
	case errors.Is(err, vnfm.ErrUnopened):
		state.restore(seen)
		state.Status = types.StringValue(statusUnknown)
		resp.Diagnostics.AddAttributeWarning(path.Root("id"), "Credentials of "+object(state.Name.ValueString())+" Cannot Be Opened",
			tfutil.ErrorDetail(err)+"\n\nThe registry itself is untouched. The next apply writes the record again, as it is configured.")
	case err != nil:
		state.restore(seen)
		state.Status = types.StringValue(statusUnreachable)
		resp.Diagnostics.AddAttributeWarning(path.Root("status"), object(state.Name.ValueString())+" Could Not Be Refreshed",
			tfutil.ErrorDetail(err)+"\n\nThe next apply tries to install it again.")
	default:
		state.restore(seen)
		state.set(ctx, seen, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
}

// restore fills what an import leaves open.
func (m *model) restore(seen *vnfm.Registry) {
	s := &seen.Spec
	if !m.Name.IsNull() {
		return
	}
	m.Name, m.Runtime, m.Port = types.StringValue(s.Name), types.StringValue(s.Runtime), types.Int64Value(int64(s.Port))
	m.Host, m.InstanceID, m.ConnectionPoint = tfutil.OptionalString(s.SSH.Address), tfutil.OptionalString(s.InstanceID), tfutil.OptionalString(s.ConnectionPoint)
	m.ImagePath, m.PackageID, m.ContainerImage = tfutil.OptionalString(s.ImagePath), tfutil.OptionalString(s.PackageID), tfutil.OptionalString(s.Image)
	m.StoragePath = tfutil.OptionalString(s.StoragePath)
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan, state, config model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Update, installTimeout, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	if !plan.Status.IsUnknown() {
		// Nothing that the host would have to know.
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
		return
	}
	plan.PinnedHostKeys = state.PinnedHostKeys
	plan.fillWords(ctx, &state)
	r.install(ctx, "Update", &plan, &config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		// A destroy is given the state alone, and may be what the user does next.
		state.OnUnreachable, state.DeletionPolicy, state.Timeouts = plan.OnUnreachable, plan.DeletionPolicy, plan.Timeouts
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
		return
	}
	if state.Status.ValueString() == statusUnknown && tfutil.Set(state.SSH) {
		warnPinned(&state, tfutil.Texts(plan.PinnedHostKeys), &resp.Diagnostics)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	manager := r.Data.RequireManager(&resp.Diagnostics)
	ctx, cancel := tfutil.WithTimeout(ctx, state.Timeouts.Delete, removeTimeout, &resp.Diagnostics)
	defer cancel()
	removeImages := state.removesImages(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id, name := state.ID.ValueString(), state.Name.ValueString()
	how := vnfm.RegistryRemoval{
		Images: removeImages, OnUnreachable: vnfm.OnUnreachable(state.OnUnreachable.ValueString()), DefaultOnUnreachable: r.Data.DefaultOnUnreachable(),
		LeftBehind: func(reason error) { warnLeftBehind(&state, reason, &resp.Diagnostics) },
	}
	if _, err := manager.Registry(ctx, id); vnfm.IsMissing(err, id) && !r.findLost(ctx, &state, how, &resp.Diagnostics) {
		return
	}
	err := manager.RemoveRegistry(ctx, id, how)
	switch {
	case vnfm.IsGone(err):
		tfutil.AddAdvisedError(&resp.Diagnostics, "Remove", object(name), err, goneAdvice)
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Remove", object(name), err, path.Empty())
	}
}

// ImportState implements resource.ResourceWithImportState, by id, or by host and name. An import has no configuration to log in with:
// of a registry that the store does not know, the state says where it is and no more, and the next apply finds it there.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	manager := r.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	named := r.Identity.Imported(ctx, &req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	host, name, byHost := strings.Cut(named, "/")
	if !byHost {
		if _, err := manager.Registry(ctx, named); err != nil {
			tfutil.AddError(&resp.Diagnostics, "Import", object(named), err, path.Empty())
			return
		}
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), named)...)
		return
	}
	if host == "" || name == "" || strings.Contains(name, "/") {
		resp.Diagnostics.AddError("Unable to Import "+object(named), "The import takes the id of a registry, or HOST/NAME: the argument host as it is configured, and the name of the container.")
		return
	}
	known, err := manager.Registries(ctx, vnfm.RegistryFilter{Host: host, Name: name})
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Import", object(named), err, path.Empty())
		return
	}
	if len(known) > 0 {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), known[0].ID)...)
		return
	}
	for attribute, value := range map[string]string{"id": uuid.NewString(), "host": host, "name": name} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(attribute), value)...)
	}
}
