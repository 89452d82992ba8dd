// Package vim holds the resource and the data source vnf_vim, and the data source vnf_vims.
package vim

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
const ResourceType = "vnf_vim"

const (
	// defaultTimeout bounds a registration and an update.
	defaultTimeout = time.Minute
	// refreshTimeout bounds the look that a refresh takes: a plan must go on when
	// the VIM does not answer.
	refreshTimeout = 5 * time.Second
)

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
)

// identity is what identifies the resource: its name may change.
var identity = base.Identity{{Name: "id", Description: "Id of the VIM."}}

// Resource implements the resource vnf_vim.
type Resource struct{ base.Resource }

// NewResource returns the resource vnf_vim.
func NewResource() resource.Resource {
	return &Resource{base.Resource{
		Type: ResourceType, Title: "VIM", Noun: "VIM",
		Origin:     "A VIM is known to the store once a vnf_vim resource has registered it.",
		DeleteVerb: "Deregister", DeleteLimit: defaultTimeout,
		Identity: identity,
		Remove: func(ctx context.Context, manager vnfm.Manager, id, share string) error {
			return manager.ReleaseVIM(ctx, id, share)
		},
		Find: func(ctx context.Context, manager vnfm.Manager, idOrName string) (string, error) {
			v, err := find(ctx, manager, idOrName)
			if err != nil {
				return "", err
			}
			// An import follows a state that was lost or given up, with the share in it.
			return v.ID, manager.ForgetShares(ctx, v.ID)
		},
	}}
}

// ValidateConfig implements resource.ResourceWithValidateConfig. It reaches no network.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	c, at, diags := config.connection(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || c == nil {
		return
	}
	resp.Diagnostics.Append(tfutil.MaskDiagnostics(c.validate(at), secretsOf(known(c.credentials()))...)...)
}

// ModifyPlan implements resource.ResourceWithModifyPlan: a VIM whose record was
// lost is planned to be registered again, and what the VIM itself says stays as it
// is when nothing changes that could change it.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, state resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	planned := r.plannedType(&plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		r.planSharing(ctx, req, resp, &plan, nil)
		if own := plan.ownType(); own != "" && !resp.Diagnostics.HasError() {
			plan.Type = types.StringValue(string(own))
			plan.fillAbsent(own)
			resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
		}
		return
	}
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	r.planSharing(ctx, req, resp, &plan, &state)
	if resp.Diagnostics.HasError() {
		return
	}
	if state.Status.ValueString() == string(vnfm.VIMUnknown) && r.Data.Known() {
		// The update registers it again.
		r.Data.Expect(state.ID.ValueString())
	}
	if r.Data.Known() {
		other := tfutil.Set(plan.OpenStack) && tfutil.Set(state.OpenStack) && openstackModel(plan.OpenStack.Attributes()).mayBeOther(state.OpenStack.Attributes())
		r.Data.Manager.ExpectVIM(state.ID.ValueString(), other)
	}
	if planned != "" && isOther(planned, vnfm.VIMType(state.Type.ValueString())) {
		// A VIM cannot change its kind.
		plan.Type = types.StringUnknown()
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
		resp.RequiresReplace.Append(path.Root("type"), path.Root(string(vnfm.VIMTypeKubernetes)), path.Root(string(vnfm.VIMTypeOpenStack)))
		return
	}
	switch {
	case state.Status.ValueString() == string(vnfm.VIMUnknown):
		plan.observed = unknownObserved()
	case plan.describesSame(&state.commonModel),
		state.Status.ValueString() == string(vnfm.VIMReachable) && plan.connectsSame(&state.commonModel):
		plan.observed = state.observed
	default:
		plan.fillAbsent(plan.ownType())
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
}

// ownType is the type of a VIM whose connection the resource has; empty for others, and while it is not known.
func (m *resourceModel) ownType() vnfm.VIMType {
	switch {
	case tfutil.Set(m.Kubernetes):
		return vnfm.VIMTypeKubernetes
	case tfutil.Set(m.OpenStack):
		return vnfm.VIMTypeOpenStack
	}
	return ""
}

// plannedType is the type that a planned VIM has, empty while it is not known. A VIM without a
// connection of its own needs one of this run.
func (r *Resource) plannedType(plan *resourceModel, diags *diag.Diagnostics) vnfm.VIMType {
	if own := plan.ownType(); own != "" {
		return own
	}
	if plan.Kubernetes.IsUnknown() || plan.OpenStack.IsUnknown() || plan.Name.IsUnknown() || !r.Data.Known() {
		return ""
	}
	a, err := r.Data.Manager.VIMAccess(plan.ID.ValueString(), plan.Name.ValueString())
	if err != nil {
		tfutil.AddError(diags, "Plan", object(plan.Name.ValueString()), err, path.Root("name"))
	}
	return a.Type
}

// isOther reports whether a VIM becomes one of the other type.
func isOther(planned, present vnfm.VIMType) bool {
	return planned == vnfm.VIMTypeKubernetes && present == vnfm.VIMTypeOpenStack || planned == vnfm.VIMTypeOpenStack && present == vnfm.VIMTypeKubernetes
}

// Create implements resource.Resource. A VIM that cannot be reached is not
// registered: the error leaves no state.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan, config resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := r.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	share := base.NewShare(ctx, resp.Private, &resp.Diagnostics)
	r.register(ctx, "Register", share, &plan, &config, plan.Timeouts.Create, &resp.Diagnostics, func(ctx context.Context, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
		return manager.RegisterVIM(ctx, "", spec)
	})
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
}

// register sends the configuration of a VIM to the manager, for a share of the VIM, and fills the plan.
func (r *Resource) register(
	ctx context.Context, verb, share string, plan, config *resourceModel, limit timeLimit, diags *diag.Diagnostics,
	send func(context.Context, vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error),
) {
	spec, more := config.spec(ctx)
	spec.Share = share
	diags.Append(more...)
	ctx, cancel := tfutil.WithTimeout(ctx, limit, defaultTimeout, diags)
	defer cancel()
	if diags.HasError() {
		return
	}
	ctx, hide := tfutil.HideSecrets(ctx, diags, secretsOf(spec.Credentials)...)
	defer hide()
	v, problems, err := send(ctx, spec)
	if err != nil {
		tfutil.AddError(diags, verb, object(spec.Name), inConnection(spec, err), path.Empty())
		return
	}
	diags.Append(tfutil.Problems(problems, path.Empty())...)
	if diags.HasError() {
		return
	}
	plan.setComputed(v)
}

// timeLimit is one of the methods of timeouts.Value.
type timeLimit = func(context.Context, time.Duration) (time.Duration, diag.Diagnostics)

// Read implements resource.Resource. A missing record is never taken for a missing
// VIM, and a VIM that does not answer does not stop a plan.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var state resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	if resp.Diagnostics.HasError() || !r.Data.Known() {
		return
	}
	ctx = vnfm.WithRefresh(ctx)
	share := base.Share(ctx, req.Private, &resp.Diagnostics)
	v, diags := look(ctx, r.Data.Manager, state.ID.ValueString(), share)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if v != nil && share == "" {
		// An import, whose state may be given up. The next read has it.
		base.NewShare(ctx, resp.Private, &resp.Diagnostics)
	}
	var err error
	if v == nil {
		v, err = r.recover(ctx, &state, share, &resp.Diagnostics)
	}
	if v == nil {
		state.Status = types.StringValue(string(vnfm.VIMUnknown))
		if errors.Is(err, vnfm.ErrReadOnlyStore) {
			r.Data.WarnUnchecked(ctx, &resp.Diagnostics, object(state.Name.ValueString()), err)
		} else {
			resp.Diagnostics.AddAttributeWarning(path.Root("id"), "VIM Not in the Store",
				fmt.Sprintf("The store of this provider configuration has no record of VIM %q (%s). The VIM itself is untouched. The next apply registers it again under the same id.",
					state.Name.ValueString(), state.ID.ValueString()))
		}
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
		return
	}
	if v.Status == vnfm.VIMUnknown {
		state.Status = types.StringValue(string(v.Status))
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
		return
	}
	resp.Diagnostics.Append(state.fromVIM(ctx, v)...)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
}

// Restore registers the VIM of a state again that the store has lost, if the state or this run has its connection. The resource takes
// its share at the next refresh.
func Restore(ctx context.Context, data *tfutil.ProviderData, state tfsdk.State, diags *diag.Diagnostics) {
	var m resourceModel
	if !tfutil.Read(ctx, state, &m).HasError() {
		// Whether that went is for the caller to see in the store.
		_, _ = (&Resource{base.Resource{Data: data}}).recover(ctx, &m, "", diags)
	}
}

// recover registers a VIM again that the store has lost, when the state has its credentials. It returns nil when that does not go,
// and then maybe why.
func (r *Resource) recover(ctx context.Context, state *resourceModel, share string, diags *diag.Diagnostics) (*vnfm.VIM, error) {
	spec, found := state.spec(ctx)
	spec.Share = share
	if found.HasError() || !r.canConnect(state, spec) {
		return nil, nil
	}
	created, more := state.CreatedAt.ValueRFC3339Time()
	if spec.CreatedAt = created; more.HasError() {
		return nil, nil
	}
	ctx, hide := tfutil.HideSecrets(ctx, diags, secretsOf(spec.Credentials)...)
	defer hide()
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	v, _, err := r.Data.Manager.RegisterVIM(ctx, state.ID.ValueString(), spec)
	if err != nil {
		return nil, err
	}
	base.WarnRecovered(ctx, r.Data, diags, object(state.Name.ValueString()))
	return v, nil
}

// canConnect reports whether this run can connect to a VIM with what the state says of it.
func (r *Resource) canConnect(state *resourceModel, spec vnfm.VIMSpec) bool {
	if len(spec.Credentials) > 0 || (spec.Kubernetes != nil && spec.Kubernetes.KubeconfigRef != nil) {
		return true
	}
	a, err := r.Data.Manager.VIMAccess(state.ID.ValueString(), spec.Name)
	return err == nil && !a.Unknown
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	var plan, state, config resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.State, &state)...)
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := r.Data.RequireManager(&resp.Diagnostics)
	share := base.Share(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if plan.describesSame(&state.commonModel) && !plan.Status.IsUnknown() {
		// Nothing changed that the VIM has to be asked about.
		if !plan.OnUnreachable.Equal(state.OnUnreachable) {
			if err := manager.SetOnUnreachable(ctx, state.ID.ValueString(), vnfm.OnUnreachable(plan.OnUnreachable.ValueString())); err != nil {
				tfutil.AddError(&resp.Diagnostics, "Update", object(state.Name.ValueString()), err, path.Empty())
				return
			}
		}
		resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
		return
	}
	if share == "" {
		share = base.NewShare(ctx, resp.Private, &resp.Diagnostics)
	}
	id := state.ID.ValueString()
	r.register(ctx, "Update", share, &plan, &config, plan.Timeouts.Update, &resp.Diagnostics, func(ctx context.Context, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
		v, problems, err := manager.UpdateVIM(ctx, id, spec)
		if errors.Is(err, vnfm.ErrNotFound) {
			return manager.RegisterVIM(ctx, id, spec)
		}
		return v, problems, err
	})
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &plan)...)
}

func object(name string) string { return fmt.Sprintf("VIM %q", name) }

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create:            true,
	Update:            true,
	Delete:            true,
	CreateDescription: "Limit of a registration. Defaults to `1m`.",
	UpdateDescription: "Limit of an update. Defaults to `1m`.",
	DeleteDescription: "Limit of a removal. Defaults to `1m`.",
}
