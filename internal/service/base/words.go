package base

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// changesType is the type of the lists in changes.
var changesType = types.ListType{ElemType: types.StringType}

// planWords says in the plan what the apply will do. They are kept in the state as they were planned until an operation runs again, since
// Terraform holds a provider to what it has planned. What cannot be said before the apply is unknown.
func (r *InstanceResource[M, P]) planWords(ctx context.Context, m P, state *M, spec vnfm.InstanceSpec, known, runs bool) {
	plan := m.Common()
	if before := priorModel[M, P](state); before != nil && !runs {
		plan.Operations, plan.Changes = before.Operations, before.Changes
		return
	}
	plan.Operations, plan.Changes = types.ListUnknown(types.StringType), types.MapUnknown(changesType)
	if known && !plan.Objects.IsUnknown() {
		r.sayWords(ctx, plan, idOf[M, P](state), spec, changedObjects(plan, priorModel[M, P](state)))
	}
}

// sayWords fills in what an operation will do, as far as it is known.
func (r *InstanceResource[M, P]) sayWords(ctx context.Context, m *InstanceModel, id string, spec vnfm.InstanceSpec, drifted []string) {
	planned, err := r.data.Manager.PlanUpdate(ctx, id, spec, drifted)
	if err != nil || planned == nil {
		// What is wrong is reported by the preview.
		return
	}
	operations := make([]attr.Value, 0, len(planned.Operations))
	for _, line := range planned.Operations {
		operations = append(operations, types.StringValue(line))
	}
	changes := make(map[string]attr.Value, len(planned.Changes))
	for key, lines := range planned.Changes {
		values := make([]attr.Value, 0, len(lines))
		for _, line := range lines {
			values = append(values, types.StringValue(line))
		}
		changes[key] = types.ListValueMust(types.StringType, values)
	}
	m.Operations, m.Changes = types.ListValueMust(types.StringType, operations), types.MapValueMust(changesType, changes)
}

// fillWords fills in what the plan could not say; null where it cannot be said now either.
func (r *InstanceResource[M, P]) fillWords(ctx context.Context, m *InstanceModel, id string, spec vnfm.InstanceSpec) {
	if m.Operations.IsUnknown() || m.Changes.IsUnknown() {
		m.Operations, m.Changes = types.ListNull(types.StringType), types.MapNull(changesType)
		r.sayWords(ctx, m, id, spec, nil)
	}
}
