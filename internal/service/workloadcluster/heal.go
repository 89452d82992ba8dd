package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func healAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Replaces machines once for each new `trigger`: the named ones, or, when none is named, all of them, one after the other as the strategies of control plane and node groups say. " +
			"It runs after all else that the same apply does. A new cluster has nothing to be healed of: its first `trigger` is only noted. Machines whose node is lost are replaced by Cluster API itself, see `health_check`.",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"trigger": schema.StringAttribute{
				MarkdownDescription: "Any text. A change runs the healing once.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"cause": schema.StringAttribute{MarkdownDescription: "Why, for the record of the operation.", Optional: true},
			"machines": schema.SetAttribute{
				MarkdownDescription: "Names of the Machines to be replaced, as the data source `vnf_capi_workload_cluster` shows them. Those of node groups go at the same time, those of the control plane one after the other; its only machine cannot be named. " +
					"Without it all machines are replaced that are older than the operation, but those of groups whose `rollout` has the type `OnDelete`; `rollout_after` must not be set then.",
				ElementType: types.StringType,
				Optional:    true,
				Validators:  []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
		},
	}
}

// healModel is the argument heal.
type healModel struct {
	Trigger  types.String `tfsdk:"trigger"`
	Cause    types.String `tfsdk:"cause"`
	Machines types.Set    `tfsdk:"machines"`
}

// healSpec reads which machines are to be replaced; nil while that is not known.
func (m *model) healSpec(ctx context.Context, diags *diag.Diagnostics) *vnfm.HealSpec {
	if !tfutil.Set(m.Heal) || !tfutil.FullyKnown(ctx, m.Heal) {
		return nil
	}
	var h healModel
	diags.Append(m.Heal.As(ctx, &h, basetypes.ObjectAsOptions{})...)
	out := &vnfm.HealSpec{Trigger: h.Trigger.ValueString(), Cause: h.Cause.ValueString()}
	if tfutil.Set(h.Machines) {
		diags.Append(h.Machines.ElementsAs(ctx, &out.VNFCIDs, false)...)
	}
	if out.Whole() && tfutil.Set(m.RolloutAfter) {
		diags.AddAttributeError(path.Root("heal"), "Two Times of a Rollout",
			"A heal that names no machine has everything replaced that is older than the operation, and rollout_after says another time. Change rollout_after instead, or name the machines.")
	}
	return out
}

// heals reports whether the trigger of a heal is another one than that of the state. A
// heal that was taken out of the configuration is over.
func heals(plan, state *model) bool {
	trigger := func(m *model) attr.Value {
		switch {
		case m.Heal.IsUnknown():
			return types.StringUnknown()
		case m.Heal.IsNull():
			return types.StringNull()
		}
		return m.Heal.Attributes()["trigger"]
	}
	return !plan.Heal.IsNull() && !trigger(plan).Equal(trigger(state))
}
