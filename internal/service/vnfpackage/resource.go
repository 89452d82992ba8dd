// Package vnfpackage holds the resource and the data source vnf_package, and the data source
// vnf_packages.
package vnfpackage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ResourceType is the type name of the resource and of the data source.
const ResourceType = "vnf_package"

const (
	// onboardTimeout bounds reading and onboarding: packages can hold images.
	onboardTimeout = 20 * time.Minute
	deleteTimeout  = 5 * time.Minute
)

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
)

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create:            true,
	Update:            true,
	Delete:            true,
	CreateDescription: "Limit of reading and onboarding the package, in the plan as well. Defaults to `20m`.",
	UpdateDescription: "Limit of reading and onboarding a new version, in the plan as well. Defaults to `20m`.",
	DeleteDescription: "Limit of a removal. Defaults to `5m`.",
}

// identity is what identifies the resource: its id moves with the content.
var identity = base.Identity{{Name: "name", Description: "Name of the package."}}

// Resource implements the resource vnf_package.
type Resource struct{ base.Resource }

// NewResource returns the resource vnf_package.
func NewResource() resource.Resource {
	return &Resource{base.Resource{
		Type: ResourceType, Title: "VNF Package", Noun: "VNF package",
		Origin:     "A package is known to the store once a vnf_package resource has onboarded it.",
		DeleteVerb: "Delete", DeleteLimit: deleteTimeout,
		Identity: identity,
		Remove: func(ctx context.Context, manager vnfm.Manager, id, share string) error {
			return manager.ReleasePackage(ctx, id, share)
		},
		Find: func(ctx context.Context, manager vnfm.Manager, idOrName string) (string, error) {
			p, err := find(ctx, manager, idOrName)
			if err != nil {
				return "", err
			}
			return p.ID, nil
		},
	}}
}

// Create implements resource.Resource. It refuses a content that is not the planned one.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	manager := r.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Create, onboardTimeout, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	share := base.NewShare(ctx, resp.Private, &resp.Diagnostics)
	access := configuredAccess(ctx, req.Config, &resp.Diagnostics)
	resp.Diagnostics.Append(onboard(ctx, manager, &plan, access, share)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
}

// read reads a package, and notes a share of it that is not empty.
func (r *Resource) read(ctx context.Context, id, share string) (*vnfm.Package, error) {
	if share == "" {
		return r.Data.Manager.Package(ctx, id)
	}
	return r.Data.Manager.HoldPackage(ctx, id, share)
}

// Read implements resource.Resource. A package that the store has lost stays in
// the state, so that the next apply onboards it again in place.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var state resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	if resp.Diagnostics.HasError() || !r.Data.Known() {
		return
	}
	ctx = vnfm.WithRefresh(ctx)
	share := base.Share(ctx, req.Private, &resp.Diagnostics)
	p, err := r.read(ctx, state.ID.ValueString(), share)
	if err == nil && share == "" {
		// An import, whose state may be given up. The next read has it.
		base.NewShare(ctx, resp.Private, &resp.Diagnostics)
		state.restore(ctx, r.Data.Manager, p.ID, &resp.Diagnostics)
	}
	switch {
	case errors.Is(err, vnfm.ErrNotFound) && r.recover(ctx, &state, share, &resp.Diagnostics):
	case errors.Is(err, vnfm.ErrNotFound):
		state.Status = types.StringValue(statusUnknown)
		resp.Diagnostics.AddAttributeWarning(path.Root("id"), "VNF Package Not in the Store",
			fmt.Sprintf("The store of this provider configuration does not have VNF package %q. The next apply onboards it again from its source.", state.ID.ValueString()))
	case errors.Is(err, vnfm.ErrUnopened):
		state.Status = types.StringValue(statusUnknown)
		resp.Diagnostics.AddAttributeWarning(path.Root("id"), "Content of VNF Package Cannot Be Opened",
			tfutil.ErrorDetail(err)+"\n\nThe next apply onboards the package again from its source.")
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Read", object(state.Name.ValueString()), err, path.Empty())
		return
	default:
		state.set(p)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
}

// Restore onboards the package of a state again that the store has lost, if its source still has the same content. The resource takes
// its share at the next refresh.
func Restore(ctx context.Context, data *tfutil.ProviderData, state tfsdk.State, diags *diag.Diagnostics) {
	var m resourceModel
	if !tfutil.Read(ctx, state, &m).HasError() {
		(&Resource{base.Resource{Data: data}}).recover(ctx, &m, "", diags)
	}
}

// recover onboards a package again that the store has lost, from the source that the state names. It reports whether that has the same
// content and is onboarded.
func (r *Resource) recover(ctx context.Context, state *resourceModel, share string, diags *diag.Diagnostics) bool {
	ctx, cancel := tfutil.WithTimeout(ctx, state.Timeouts.Create, onboardTimeout, diags)
	defer cancel()
	recovered := *state
	if onboard(ctx, r.Data.Manager, &recovered, &recovered.accessModel, share).HasError() {
		return false
	}
	*state = recovered
	base.WarnRecovered(ctx, r.Data, diags, object(state.Name.ValueString()))
	return true
}

// Update implements resource.Resource: it onboards the new content and gives the
// old one up, which stays until the last instance has left it.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan, state resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	manager := r.Data.RequireManager(&resp.Diagnostics)
	share := base.Share(ctx, req.Private, &resp.Diagnostics)
	if share == "" {
		share = base.NewShare(ctx, resp.Private, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, plan.Timeouts.Update, onboardTimeout, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	if !plan.readsAs(state.inputs) || !plan.ID.Equal(state.ID) || state.Status.ValueString() != statusOnboarded {
		access := configuredAccess(ctx, req.Config, &resp.Diagnostics)
		resp.Diagnostics.Append(onboard(ctx, manager, &plan, access, share)...)
		if resp.Diagnostics.HasError() {
			return
		}
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
	if plan.ID.Equal(state.ID) {
		return
	}
	old := state.ID.ValueString()
	if err := manager.ReleasePackage(ctx, old, share); err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		resp.Diagnostics.AddWarning(fmt.Sprintf("Unable to Release %s", object(old)),
			tfutil.ErrorDetail(err)+"\n\nThe new version is onboarded. The content of the old one stays in the store.")
	}
}

func object(name string) string { return fmt.Sprintf("VNF package %q", name) }
