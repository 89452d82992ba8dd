package privateregistry

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// recover writes the record of a registry again that the store has lost, by its mark on the host. Ending is set where only a removal
// follows.
func (r *Resource) recover(ctx context.Context, state *model, ending *vnfm.RegistryRemoval) (*vnfm.Registry, error) {
	if !tfutil.Set(state.SSH) {
		return nil, errors.New("the state does not say how to log in to the host of the registry")
	}
	var diags diag.Diagnostics
	spec := state.spec(ctx, &diags)
	if diags.HasError() {
		return nil, fmt.Errorf("the state of private registry %q cannot be read: %v", state.Name.ValueString(), diags.Errors())
	}
	return r.Data.Manager.RecoverRegistry(tfutil.Mask(ctx, secretsOf(&spec)...), state.ID.ValueString(), spec, ending)
}

// readLost refreshes a registry without a record. It reports whether the record was written again.
func (r *Resource) readLost(ctx context.Context, state *model, diags *diag.Diagnostics) bool {
	found, err := r.recover(ctx, state, nil)
	if err == nil {
		base.WarnRecovered(ctx, r.Data, diags, object(state.Name.ValueString()))
		warnPinned(state, found.HostKeys, diags)
		return true
	}
	state.Status = types.StringValue(statusUnknown)
	diags.AddAttributeWarning(path.Root("id"), "Private Registry Not in the Store",
		fmt.Sprintf("The store of this provider configuration has no record of private registry %q (%s), and the state alone does not lead to its host: %s.\n\nThe registry itself is untouched. The next apply, which has the configuration, writes the record again.",
			state.Name.ValueString(), state.ID.ValueString(), tfutil.ErrorDetail(err)))
	return false
}

// findLost finds a registry without a record that is to be removed. It reports whether there is something to remove; a registry that is
// gone is removed.
func (r *Resource) findLost(ctx context.Context, state *model, how vnfm.RegistryRemoval, diags *diag.Diagnostics) bool {
	_, err := r.recover(ctx, state, &how)
	switch {
	case err == nil:
		return true
	case errors.Is(err, vnfm.ErrNoRegistry):
		return false
	case vnfm.IsGone(err):
		tfutil.AddAdvisedError(diags, "Remove", object(state.Name.ValueString()), err, goneAdvice)
		return false
	}
	diags.AddError("Record of "+object(state.Name.ValueString())+" Is Missing",
		tfutil.ErrorDetail(err)+"\n\nThe registry may still run on its host. A destroy receives the state alone, which has no write-only arguments such as ssh.password_wo. "+
			"Run terraform apply first, which writes the record again from the configuration, then destroy. Or use ssh.use_agent.")
	return false
}
