package base

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Read implements resource.Resource. A record that the store has lost, or a VIM
// that does not answer, is never taken for an instance that is gone.
func (r *InstanceResource[M, P]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer r.config.Identity.Set(ctx, resp.Identity, &resp.State, &resp.Diagnostics)
	state := r.state(ctx, req.State, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !r.data.Known() {
		return
	}
	P(state).Common().forgetWords()
	ctx, cancel := tfutil.WithTimeout(vnfm.WithRefresh(ctx), P(state).Common().Timeouts.Read, r.config.ReadLimit, &resp.Diagnostics)
	defer cancel()
	if err := r.ensureVIMs(ctx, req.Private, &resp.Diagnostics); err != nil {
		r.warnOfVIM(P(state).Common().Name.ValueString(), err, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	instance := r.refresh(ctx, state, req.State, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if instance != nil {
		r.keepVIMs(ctx, resp.Private, instance, &resp.Diagnostics)
		r.keepPackage(ctx, req.Private, resp.Private, instance, &resp.Diagnostics)
		P(state).Common().writeObjects(ctx, resp.Private, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, state)...)
}

// state reads a state, and what the private state has of it.
func (r *InstanceResource[M, P]) state(ctx context.Context, from tfsdk.State, private privateState, diags *diag.Diagnostics) *M {
	state := new(M)
	diags.Append(tfutil.Read(ctx, from, state)...)
	P(state).Common().readObjects(ctx, private, diags)
	return state
}

// refresh reads record and VIM into the state. It returns the record, nil when there is none.
func (r *InstanceResource[M, P]) refresh(ctx context.Context, state P, from tfsdk.State, private privateState, diags *diag.Diagnostics) *vnfm.Instance {
	common := state.Common()
	id := common.ID.ValueString()
	instance, err := r.data.Manager.Instance(ctx, id)
	if vnfm.IsMissing(err, id) {
		recovered, recoverErr := r.recoverAll(ctx, state, from, private, diags)
		if recoverErr != nil {
			common.Status = types.StringValue(string(vnfm.StatusUnknown))
			if errors.Is(recoverErr, vnfm.ErrReadOnlyStore) || errors.As(recoverErr, new(*vnfm.RightsError)) {
				r.data.WarnUnchecked(ctx, diags, r.config.titled(common.Name.ValueString()), recoverErr)
				return nil
			}
			diags.AddWarning(fmt.Sprintf("Record of %s Is Missing", r.config.titled(common.Name.ValueString())),
				tfutil.ErrorDetail(errors.Join(err, recoverErr))+fmt.Sprintf("\n\nTerraform's state is kept. The next apply writes the record again from the configuration and from what the %s shows.", r.config.VIMNoun))
			return nil
		}
		WarnRecovered(ctx, r.data, diags, r.config.titled(common.Name.ValueString()))
		instance, err = recovered, nil
	}
	if err != nil {
		tfutil.AddError(diags, "Read", r.config.titled(id), err, path.Empty())
		return nil
	}
	if !r.show(ctx, state, instance, diags) {
		return nil
	}
	return instance
}

// show takes over what a record says, and what the VIM shows. It reports whether that went: a VIM that does not answer is no failure.
func (r *InstanceResource[M, P]) show(ctx context.Context, state P, instance *vnfm.Instance, diags *diag.Diagnostics) bool {
	state.SetRecord(ctx, instance, diags)
	seen, err := r.data.Manager.Observe(ctx, instance.ID)
	if err == nil {
		r.observed(ctx, state, instance, seen, diags)
		return true
	}
	// A VIM that answers too late is one that does not answer; only the user ends
	// the plan.
	if errors.Is(ctx.Err(), context.Canceled) {
		tfutil.AddError(diags, "Read", r.config.titled(instance.Name), err, path.Empty())
		return false
	}
	switch {
	case seen != nil:
		r.observed(ctx, state, instance, seen, diags)
	case state.Common().Objects == nil:
		state.SetObservation(ctx, &vnfm.Observation{}, diags)
	}
	if vnfm.LacksRightsOnly(err) {
		r.data.WarnUnchecked(ctx, diags, r.config.titled(instance.Name), err)
		return true
	}
	diags.AddWarning(r.config.titled(instance.Name)+" Could Not Be Refreshed",
		tfutil.ErrorDetail(err)+"\n\nThe plan uses the last known state; drift there is not detected.")
	return true
}

// observed takes over an observation.
func (r *InstanceResource[M, P]) observed(ctx context.Context, state P, instance *vnfm.Instance, seen *vnfm.Observation, diags *diag.Diagnostics) {
	common := state.Common()
	common.Objects = common.Objects.observed(seen)
	if common.Drift = types.ListNull(types.StringType); instance.Status == vnfm.StatusInstantiated {
		common.Drift = common.Objects.drift()
	}
	state.SetObservation(ctx, seen, diags)
	diags.Append(tfutil.Problems(seen.Warnings, r.config.ContentPath)...)
}
