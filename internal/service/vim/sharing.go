package vim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// plannedKey is where the private state that a plan returns keeps the id of the VIM. Terraform plans the creation half of a
// replacement without the prior state, but with that private state.
const plannedKey = "planned"

// planSharing refuses what an apply would refuse because others have the name, share the VIM or have instances on it. What cannot be
// read is left to the apply.
func (r *Resource) planSharing(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, plan, state *resourceModel) {
	var config resourceModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	share := base.Share(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !r.Data.Known() {
		return
	}
	id := ""
	if state != nil {
		id = state.ID.ValueString()
		// A string is always encoded.
		data, _ := json.Marshal(id)
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, plannedKey, data)...)
	} else {
		r.refuseReplacement(ctx, req, share, plan.Name.ValueString(), &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() || !tfutil.Set(plan.Name) || (state != nil && plan.describesSame(&state.commonModel)) {
		return
	}
	spec := vnfm.VIMSpec{Name: plan.Name.ValueString(), Share: share}
	err := r.Data.Manager.PlanVIM(ctx, id, spec, r.place(ctx, plan.ID.ValueString(), &config))
	if errors.As(err, new(*vnfm.InvalidError)) {
		tfutil.AddError(&resp.Diagnostics, "Plan", object(spec.Name), err, path.Root("name"))
	}
}

// place is where a configuration leads, as far as that is known offline.
func (r *Resource) place(ctx context.Context, id string, config *resourceModel) vnfm.VIMPlace {
	c, _, diags := config.connection(ctx)
	switch {
	case diags.HasError(), config.Kubernetes.IsUnknown(), config.OpenStack.IsUnknown():
		return vnfm.VIMPlace{}
	case c != nil:
		return c.place()
	}
	a, err := r.Data.Manager.VIMAccess(id, config.Name.ValueString())
	if err != nil {
		return vnfm.VIMPlace{}
	}
	v := vnfm.VIM{Type: a.Type, Kubernetes: a.Kubernetes, OpenStack: a.OpenStack}
	return v.Place()
}

// refuseReplacement refuses the plan of a replacement that the apply could not finish: it would destroy what depends on the VIM, and
// then fail to deregister it.
func (r *Resource) refuseReplacement(ctx context.Context, req resource.ModifyPlanRequest, share, name string, diags *diag.Diagnostics) {
	data, more := req.Private.GetKey(ctx, plannedKey)
	diags.Append(more...)
	var id string
	if len(data) == 0 || json.Unmarshal(data, &id) != nil {
		return
	}
	others, err := r.Data.Manager.ForeignInstances(ctx, id, share)
	if err != nil || len(others) == 0 {
		return
	}
	const most = 5
	names := strings.Join(others[:min(most, len(others))], ", ")
	if more := len(others) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	diags.AddError(fmt.Sprintf("VIM %q Cannot Be Replaced", name), fmt.Sprintf(
		"Instances of other configurations are on it: %s. The replacement would destroy what depends on the VIM here, and then fail to deregister it.\n\n"+
			"Either keep the VIM and plan without -replace: all changes but that of its type are made in place. Or destroy these instances first, where they are managed.\n\n"+
			"An instance of this configuration counts as another's until a plan without -replace has read it after the vnf_vim, with the same provider block.", names))
}
