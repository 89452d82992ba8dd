package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func healAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Replaces VNFCs once for each new `trigger`: the named ones, all of the named VDUs, or, when none is named, applies everything again and then replaces all VNFCs. " +
			"It runs after a change of package, state or scale of the same apply. A new instance has nothing to be healed of: its first `trigger` is only noted. Objects that are gone or were changed are put right by any apply, without this.",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"trigger": schema.StringAttribute{
				MarkdownDescription: "Any text. A change runs the healing once.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"cause": schema.StringAttribute{
				MarkdownDescription: "Why, for the record of the operation.",
				Optional:            true,
			},
			"vnfc_ids": schema.SetAttribute{
				MarkdownDescription: "Ids of the VNFCs to be replaced, as the data source `vnf_instance` shows them. All are replaced at the same time.",
				ElementType:         types.StringType,
				Optional:            true,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
			"vdu_ids": schema.SetAttribute{
				MarkdownDescription: "Ids of VDUs whose VNFCs are all replaced, as gently as the update strategy of the workload says.",
				ElementType:         types.StringType,
				Optional:            true,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
			},
		},
	}
}

// healModel is the "heal" argument.
type healModel struct {
	Trigger types.String `tfsdk:"trigger"`
	Cause   types.String `tfsdk:"cause"`
	VNFCIDs types.Set    `tfsdk:"vnfc_ids"`
	VDUIDs  types.Set    `tfsdk:"vdu_ids"`
}

// healSpec reads which VNFCs are to be replaced; nil while that is not known.
func (m *model) healSpec(ctx context.Context, diags *diag.Diagnostics) *vnfm.HealSpec {
	if !tfutil.Set(m.Heal) || !tfutil.FullyKnown(ctx, m.Heal) {
		return nil
	}
	var h healModel
	diags.Append(m.Heal.As(ctx, &h, basetypes.ObjectAsOptions{})...)
	out := &vnfm.HealSpec{Trigger: h.Trigger.ValueString(), Cause: h.Cause.ValueString()}
	if tfutil.Set(h.VNFCIDs) {
		diags.Append(h.VNFCIDs.ElementsAs(ctx, &out.VNFCIDs, false)...)
	}
	if tfutil.Set(h.VDUIDs) {
		diags.Append(h.VDUIDs.ElementsAs(ctx, &out.VDUIDs, false)...)
	}
	return out
}

// healTrigger is the trigger of the "heal" argument; null when it is left out.
func (m *model) healTrigger() attr.Value {
	if m.Heal.IsUnknown() {
		return types.StringUnknown()
	}
	if m.Heal.IsNull() {
		return types.StringNull()
	}
	return m.Heal.Attributes()["trigger"]
}

// heals reports whether the trigger of a heal is another one than that of the
// state. A heal that was taken out of the configuration is over.
func heals(plan, state *model) bool {
	return !plan.Heal.IsNull() && !plan.healTrigger().Equal(state.healTrigger())
}
