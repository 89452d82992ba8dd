package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// dryRun has the VIM try the objects that the plan adds or changes. Where the VIM or
// the objects are not known yet there is nothing to try, and a plan that changes no
// object asks for nothing.
func (r *Resource) dryRun(ctx context.Context, plan, state *model, diags *diag.Diagnostics) {
	if !plan.ServerDryRun.ValueBool() || !r.data.Known() || !tfutil.Set(plan.VIMID) || !tfutil.Set(plan.Objects) ||
		(state != nil && !plan.VIMID.Equal(state.VIMID)) {
		return
	}
	keys := changedObjects(plan, state)
	spec, known := plan.spec(ctx, diags)
	if len(keys) == 0 || !known || diags.HasError() {
		return
	}
	id := ""
	if state != nil {
		id = state.ID.ValueString()
	}
	problems, err := r.data.Manager.DryRunInstance(ctx, id, spec, keys)
	// Of several VIMs some may have answered.
	diags.Append(tfutil.Problems(problems, path.Root("package_id"))...)
	// A VIM or package that is not found is registered by the same apply.
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		diags.AddAttributeWarning(path.Root("vim_id"), fmt.Sprintf("Plan of VNF Instance %q Was Not Tried on the VIM", spec.Name), tfutil.ErrorDetail(err))
	}
}

// changedObjects are the keys of the planned objects that are not in the state, or
// otherwise: another digest, or drifted.
func changedObjects(plan, state *model) []string {
	before := map[string]string{}
	if state != nil {
		before = texts(state.Objects)
	}
	var keys []string
	for key, digest := range texts(plan.Objects) {
		if before[key] != digest {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// texts reads a map of texts.
func texts(m types.Map) map[string]string {
	out := make(map[string]string, len(m.Elements()))
	for key, v := range m.Elements() {
		if text, ok := v.(types.String); ok {
			out[key] = text.ValueString()
		}
	}
	return out
}
