package base

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// RecoveredSummary is the summary of all warnings about records that a refresh has written again: Terraform shows one of several
// warnings with the same summary.
const RecoveredSummary = "Records Were Missing in the Store and Were Written Again"

// WarnRecovered says that the record of an object was written again in a refresh, or that this run alone has it.
func WarnRecovered(ctx context.Context, data *tfutil.ProviderData, diags *diag.Diagnostics, object string) {
	if refused := vnfm.Unwritten(ctx); refused != nil {
		data.WarnUnchecked(ctx, diags, object, refused)
		return
	}
	diags.AddWarning(RecoveredSummary, fmt.Sprintf("The store of this provider configuration had no record of %s. It was written again from Terraform's state and from what there is. That changes nothing else. "+
		"If the store should have had it, check the argument \"store\" of the provider: on a machine that keeps no disk, use a store that outlives it.", object))
}

// known is what a state says of an instance besides its arguments.
func (r *InstanceResource[M, P]) known(state P) vnfm.KnownState {
	common := state.Common()
	known := vnfm.KnownState{
		Status: vnfm.InstanceStatus(common.Status.ValueString()), Generation: common.Generation.ValueInt64(),
		InSync: common.Status.ValueString() == r.config.CompletedStatus && common.Drift.IsNull(),
	}
	switch {
	case common.Status.ValueString() == r.config.CompletedStatus:
		known.Status = vnfm.StatusInstantiated
	case common.IsGone():
		known.Status, known.Gone = vnfm.StatusInstantiated, true
	case known.Status == vnfm.StatusUnknown && known.Generation > 0:
		// An earlier refresh could not look. Its creation was complete, and drift is looked for.
		known.Status = vnfm.StatusInstantiated
	}
	if m, ok := any(state).(interface{ RegisteredVIM() string }); ok {
		known.RegisteredVIMID = m.RegisteredVIM()
	}
	return known
}

// recover writes the record of an instance again that the store has lost. Ending says that only a termination follows.
func (r *InstanceResource[M, P]) recover(ctx context.Context, state P, from tfsdk.State, ending bool) (*vnfm.Instance, error) {
	var diags diag.Diagnostics
	spec, known := state.Spec(ctx, (*M)(state), &diags)
	if diags.HasError() || !known {
		return nil, fmt.Errorf("the state of %s cannot be read: %v", r.config.titled(state.Common().Name.ValueString()), diags.Errors())
	}
	spec.Known, spec.Arguments = r.known(state), r.arguments(ctx, from.Raw)
	if spec.Known.Ending = ending; ending {
		spec.Known.OnUnreachable, spec.Known.DefaultOnUnreachable = r.onUnreachable(state.Common())
	}
	return r.data.Manager.RecoverInstance(ctx, state.Common().ID.ValueString(), spec)
}

// recoverAll writes the record of an instance again, and before it that of its package.
func (r *InstanceResource[M, P]) recoverAll(ctx context.Context, state P, from tfsdk.State, private privateState, diags *diag.Diagnostics) (*vnfm.Instance, error) {
	if err := r.ensurePackage(ctx, private, diags); err != nil {
		return nil, err
	}
	return r.recover(ctx, state, from, false)
}

// ensureAll writes the records again that an update needs and that the store has lost since the plan: those of the VIMs, of the
// package, and of the instance as the state says that it is. Where the instance cannot be recovered so, the update does it from what
// is planned.
func (r *InstanceResource[M, P]) ensureAll(ctx context.Context, state P, from tfsdk.State, private privateState, diags *diag.Diagnostics) error {
	if err := r.ensureVIMs(ctx, private, diags); err != nil {
		return err
	}
	id := state.Common().ID.ValueString()
	if _, err := r.data.Manager.Instance(ctx, id); !vnfm.IsMissing(err, id) {
		// Another error is the update's to tell.
		return nil
	}
	// What stands in the way meets the update too, which has more arguments than the state.
	_, _ = r.recoverAll(ctx, state, from, private, diags)
	return nil
}
