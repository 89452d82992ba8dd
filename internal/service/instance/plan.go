package instance

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// PlanArguments implements base.Model.
func (m *model) PlanArguments(ctx context.Context, _ vnfm.Manager, config, state *model, resp *resource.ModifyPlanResponse) bool {
	// Attributes without a value in the configuration are computed again, not taken from the state: a
	// new package may have other defaults.
	m.FlavourID, m.InstantiationLevelID = config.FlavourID, config.InstantiationLevelID
	m.Namespace = plannedNamespace(m, config, state)
	planConnections(ctx, m, state, resp)
	return !config.FlavourID.IsUnknown() && !config.InstantiationLevelID.IsUnknown()
}

// plannedNamespace is the namespace that the user gave, here or as an additional
// parameter; else it stays, or is known once the VIM is.
func plannedNamespace(plan, config, state *model) types.String {
	if !config.Namespace.IsNull() {
		return config.Namespace
	}
	params, later, err := tfutil.KnownMapToGo(config.AdditionalParams)
	if config.AdditionalParams.IsUnknown() || config.AdditionalParams.IsUnderlyingValueUnknown() || slices.Contains(later, "namespace") {
		return types.StringUnknown()
	}
	if name, ok := params["namespace"].(string); err == nil && ok && name != "" {
		return types.StringValue(name)
	}
	if state != nil && plan.VIMID.Equal(state.VIMID) {
		return state.Namespace
	}
	return types.StringUnknown()
}

// Differs implements base.Model.
func (m *model) Differs(ctx context.Context, state *model) bool {
	for _, pair := range [][2]attr.Value{
		{m.VIMConnections, state.VIMConnections},
		{m.ExtVirtualLinks, state.ExtVirtualLinks},
		{m.ExtManagedVirtualLinks, state.ExtManagedVirtualLinks},
	} {
		if !tfutil.SameButEmpty(ctx, pair[0], pair[1]) {
			return true
		}
	}
	return !sameParams(ctx, m.AdditionalParams, state.AdditionalParams) || !base.AllEqual([][2]attr.Value{
		{m.SecretParamsVersion, state.SecretParamsVersion},
		{m.PackageID, state.PackageID},
		{m.FlavourID, state.FlavourID},
		{m.InstantiationLevelID, state.InstantiationLevelID},
		{m.ScaleStatus, state.ScaleStatus},
		{m.OperationalState, state.OperationalState},
		{m.VNFCCounts, state.VNFCCounts},
	})
}

// Tried implements base.Model: other zones are compared with those of the VIM, as the stack is whose servers go there.
func (m *model) Tried(state *model) []string {
	if m.AvailabilityZones.Equal(state.AvailabilityZones) {
		return nil
	}
	var out []string
	for key := range m.Objects {
		if _, own := vnfm.CutConnection(key); strings.HasPrefix(own, vnfm.StackKind+" ") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// PlanProgress implements base.Model: what an operation changes is in the preview.
// A VIM keeps its id once it is registered; SetPreview has set whether there will be one.
func (m *model) PlanProgress(_ context.Context, state *model, runs bool, _ *diag.Diagnostics) {
	if state != nil && (!runs || !state.RegisteredVIMID.IsNull()) {
		m.RegisteredVIMID = state.RegisteredVIMID
	}
}

// sameParams reports whether two values hold the same parameters, be they written
// as lists or tuples, maps or objects.
func sameParams(ctx context.Context, a, b types.Dynamic) bool {
	if a.Equal(b) {
		return true
	}
	if !tfutil.FullyKnown(ctx, a) || !tfutil.FullyKnown(ctx, b) {
		return false
	}
	left, leftErr := tfutil.MapToGo(a)
	right, rightErr := tfutil.MapToGo(b)
	return leftErr == nil && rightErr == nil && (len(left)+len(right) == 0 || reflect.DeepEqual(left, right))
}
