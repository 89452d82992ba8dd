package base

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// changesType is the type of the lists in changes.
var changesType = types.ListType{ElemType: types.StringType}

// appliedObjects is the key of changes for the objects of an instance of which nothing is recorded.
const appliedObjects = "applied"

// planWords says in the plan what the apply will do. Terraform holds a provider to what it has planned, and asks for the same plan once
// more when it applies: the attributes say what was planned, whatever ran, until the next refresh. What cannot be said yet is unknown.
func (r *InstanceResource[M, P]) planWords(ctx context.Context, m P, state *M, spec vnfm.InstanceSpec, known, runs bool, req *resource.ModifyPlanRequest, diags *diag.Diagnostics) {
	plan, before := m.Common(), priorModel[M, P](state)
	// A change of the record alone, such as of metadata, is an operation as well.
	if before != nil && !runs && !argumentsDiffer(&req.State, &req.Plan, providersOwn...) {
		keepWords(plan, before)
		return
	}
	plan.Operations, plan.Changes = types.ListUnknown(types.StringType), types.MapUnknown(changesType)
	// What a new instance consists of decides what its creation does; an update may also be for what a preview does without.
	if !known || plan.Objects == nil || state != nil && !req.Config.Raw.IsFullyKnown() {
		return
	}
	id := idOf[M, P](state)
	if state != nil {
		spec.Known = r.known(P(state))
	}
	planned, err := r.data.Manager.PlanUpdate(ctx, id, spec, changedFrom(plan, before))
	missing := vnfm.IsMissing(err, id)
	if missing {
		// The apply of a saved plan over a store that was lost since: the update would recover the record as well.
		short, cancel := context.WithTimeout(ctx, fillLimit)
		defer cancel()
		if _, err = r.recoverAll(short, P(state), req.State, req.Private, diags); err == nil {
			planned, err = r.data.Manager.PlanUpdate(ctx, id, spec, changedFrom(plan, before))
		}
	}
	switch {
	case err == nil:
		plan.setWords(planned, before, runs)
	case missing && errors.As(err, new(*vnfm.InvalidError)):
		// The state of an imported cluster without a record does not describe it: whoever adopts one compares the names.
		plan.Changes = types.MapValueMust(changesType, map[string]attr.Value{appliedObjects: limited(slices.Collect(maps.Keys(plan.Objects)))})
	default:
		// What is wrong is reported by the preview. A record that the apply can write again, such as once its VIM is registered, says more then.
	}
}

// fillWords fills in what the plan could not say; null where it cannot be said now either.
func (r *InstanceResource[M, P]) fillWords(ctx context.Context, m P, state *M, spec vnfm.InstanceSpec) {
	plan := m.Common()
	if !plan.Operations.IsUnknown() && !plan.Changes.IsUnknown() {
		return
	}
	operations, changes := plan.Operations, plan.Changes
	plan.forgetWords()
	if state != nil {
		spec.Known = r.known(P(state))
	}
	if planned, err := r.data.Manager.PlanUpdate(ctx, idOf[M, P](state), spec, changedFrom(plan, priorModel[M, P](state))); err == nil {
		plan.setWords(planned, priorModel[M, P](state), false)
	}
	if !operations.IsUnknown() {
		plan.Operations = operations
	}
	if !changes.IsUnknown() {
		plan.Changes = changes
	}
}

// setWords takes over what was planned; nil leaves the attributes as they are. Where nothing runs, they stay as they were before.
func (m *InstanceModel) setWords(planned *vnfm.PlannedUpdate, before *InstanceModel, runs bool) {
	if planned == nil {
		return
	}
	if before != nil && !runs && len(planned.Operations) == 0 {
		keepWords(m, before)
		return
	}
	texts := func(lines []string) types.List {
		values := make([]attr.Value, 0, len(lines))
		for _, line := range lines {
			values = append(values, types.StringValue(line))
		}
		return types.ListValueMust(types.StringType, values)
	}
	changes := make(map[string]attr.Value, len(planned.Changes))
	for key, lines := range planned.Changes {
		changes[key] = texts(lines)
	}
	m.Operations, m.Changes = texts(planned.Operations), types.MapValueMust(changesType, changes)
}

// forgetWords ends what the last apply was planned to do, so that the next plan shows its own words alone.
func (m *InstanceModel) forgetWords() {
	m.Operations, m.Changes = types.ListNull(types.StringType), types.MapNull(changesType)
}

// keepWords takes over the words that are known.
func keepWords(to, from *InstanceModel) {
	if !from.Operations.IsUnknown() && !from.Changes.IsUnknown() {
		to.Operations, to.Changes = from.Operations, from.Changes
	}
}

// changedFrom are the planned objects that are not as the private state has them, with what it has of them; without a state all.
func changedFrom(plan, state *InstanceModel) map[string]string {
	if state == nil {
		return plan.Objects.changedFrom(nil)
	}
	return plan.Objects.changedFrom(state.Objects)
}

// stopSummary is the same for all resources: Terraform shows one of several warnings with the same summary, and counts the others.
const stopSummary = "Running Functions Stop"

// warnOfStop says what a destroy or a replacement interrupts, which no attribute can.
func (r *InstanceResource[M, P]) warnOfStop(ctx context.Context, from tfsdk.State, diags *diag.Diagnostics) {
	var state M
	if from.Raw.IsNull() || tfutil.Read(ctx, from, &state).HasError() {
		return
	}
	running := P(&state).Running()
	if len(running) == 0 {
		return
	}
	slices.Sort(running)
	if more := len(running) - maxRunning; more > 0 {
		running = append(running[:maxRunning], fmt.Sprintf("%d more", more))
	}
	WarnOfStop(diags, r.config.titled(P(&state).Common().Name.ValueString()), running...)
}

// WarnOfStop warns that an object is terminated with what runs.
func WarnOfStop(diags *diag.Diagnostics, object string, running ...string) {
	diags.AddWarning(stopSummary, fmt.Sprintf("This plan terminates %s: %s.", object, strings.Join(running, ", ")))
}

// maxRunning is how much of what stops is named.
const maxRunning = 10
