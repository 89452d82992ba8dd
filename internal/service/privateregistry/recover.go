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

// isMissing reports whether an error says that the store has no record of a registry.
func isMissing(err error, id string) bool {
	var missing *vnfm.NotFoundError
	return errors.As(err, &missing) && missing.ID == id
}

// recover writes the record of a registry again that the store has lost, by its mark on the host. Ending says that only a removal
// follows.
func (r *Resource) recover(ctx context.Context, state *model, ending bool) error {
	if !tfutil.Set(state.SSH) {
		return errors.New("the state does not say how to log in to the host of the registry")
	}
	var diags diag.Diagnostics
	spec := state.spec(ctx, &diags)
	if diags.HasError() {
		return fmt.Errorf("the state of private registry %q cannot be read: %v", state.Name.ValueString(), diags.Errors())
	}
	_, err := r.Data.Manager.RecoverRegistry(tfutil.Mask(ctx, secretsOf(&spec)...), state.ID.ValueString(), spec, ending)
	return err
}

// readLost refreshes a registry without a record. It reports whether the record was written again.
func (r *Resource) readLost(ctx context.Context, state *model, diags *diag.Diagnostics) bool {
	err := r.recover(ctx, state, false)
	if err == nil {
		base.WarnRecovered(ctx, r.Data, diags, object(state.Name.ValueString()))
		return true
	}
	state.Status = types.StringValue(statusUnknown)
	diags.AddAttributeWarning(path.Root("id"), "Private Registry Not in the Store",
		fmt.Sprintf("The store of this provider configuration has no record of private registry %q (%s), and the state alone does not lead to its host: %s.\n\nThe registry itself is untouched. The next apply, which has the configuration, writes the record again.",
			state.Name.ValueString(), state.ID.ValueString(), tfutil.ErrorDetail(err)))
	return false
}

// findLost finds a registry without a record that is to be removed. It reports whether the host has it; one that is gone is removed.
func (r *Resource) findLost(ctx context.Context, state *model, diags *diag.Diagnostics) bool {
	err := r.recover(ctx, state, true)
	switch {
	case err == nil:
		return true
	case errors.Is(err, vnfm.ErrNoRegistry):
		return false
	}
	diags.AddError("Record of "+object(state.Name.ValueString())+" Is Missing",
		tfutil.ErrorDetail(err)+"\n\nThe registry may still run on its host. A destroy receives the state alone, which has no write-only arguments such as ssh.password_wo. "+
			"Run terraform apply first, which writes the record again from the configuration, then destroy. Or use ssh.use_agent. If the host no longer exists, run terraform state rm with the address of the registry.")
	return false
}
