package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// healModel is the argument heal.
type healModel struct {
	Trigger        types.String `tfsdk:"trigger"`
	Cause          types.String `tfsdk:"cause"`
	VNFCIDs        types.Set    `tfsdk:"vnfc_ids"`
	VDUIDs         types.Set    `tfsdk:"vdu_ids"`
	ReplaceVolumes types.Bool   `tfsdk:"replace_volumes"`
}

// healSpec reads the argument heal; nil while it is not known.
func (m *model) healSpec(ctx context.Context, diags *diag.Diagnostics) *vnfm.HealSpec {
	heal := tfutil.KnownAs[healModel](ctx, m.Heal, diags)
	if heal == nil {
		return nil
	}
	return &vnfm.HealSpec{
		Trigger: heal.Trigger.ValueString(), Cause: heal.Cause.ValueString(),
		VNFCIDs: tfutil.Strings(heal.VNFCIDs), VDUIDs: tfutil.Strings(heal.VDUIDs), Storage: heal.ReplaceVolumes.ValueBool(),
	}
}

func healAttribute() schema.Attribute {
	return base.HealAttribute("Replaces VNFCs once for each new `trigger`: those of `vnfc_ids`, all of `vdu_ids`, or, if neither is set, all VNFCs after everything has been applied again. "+
		"It runs after a change of package, state or scale of the same apply. On create the trigger is recorded and nothing is healed. Every apply repairs missing and changed objects anyway. Changing this without a new `trigger` has no effect.",
		map[string]schema.Attribute{
			"vnfc_ids": base.Names("Ids of the VNFCs to be replaced, as the data source `vnf_instance` shows them. All are replaced at the same time."),
			"vdu_ids":  base.Names("Ids of VDUs whose VNFCs are all replaced, with the update strategy of the workload."),
			"replace_volumes": schema.BoolAttribute{
				MarkdownDescription: "Whether to replace the volumes that belong to these VNFCs alone, and lose their data: on Kubernetes the claims that a StatefulSet makes for each pod, whose pods are then replaced one by one; on OpenStack the volumes in the nested template of the VDU. Defaults to `false`.",
				Optional:            true,
				Computed:            true,
				Default:             booldefault.StaticBool(false),
			},
		})
}
