package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewHealAction returns the action vnf_heal.
func NewHealAction() action.Action {
	names := func(description string) schema.Attribute {
		return schema.SetAttribute{
			MarkdownDescription: description, ElementType: types.StringType, Optional: true,
			Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		}
	}
	return &base.Action{
		Type: "vnf_heal", Verb: "Heal", Title: "Instance",
		Description: "Replaces VNFCs of a VNF instance, or machines of a workload cluster, once: those of `vnfc_ids`, all of `vdu_ids`, or, if neither is set, all. " +
			"It is the LCM operation HEAL. The argument `heal` of the resources does the same with each new `trigger`, with any version of Terraform or OpenTofu. An instance whose last operation has not completed is healed by an apply.",
		Subject: "instance_id", SubjectDescription: "Id of the `vnf_instance` or `vnf_capi_workload_cluster`.",
		Attributes: map[string]schema.Attribute{
			"vnfc_ids":        names("Ids of the VNFCs to be replaced, as the data source `vnf_instance` shows them, or names of Machines."),
			"vdu_ids":         names("Ids of VDUs whose VNFCs are all replaced, with the update strategy of the workload."),
			"replace_volumes": schema.BoolAttribute{MarkdownDescription: "Whether to replace the volumes that belong to these VNFCs alone, and lose their data. Defaults to `false`.", Optional: true},
			"cause":           schema.StringAttribute{MarkdownDescription: "Reason, for the record of the operation.", Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
		},
		Act:       healAct,
		Arguments: map[string]string{"heal.vnfc_ids": "vnfc_ids", "heal.vdu_ids": "vdu_ids", "heal.machine_names": "vnfc_ids"},
	}
}

// healAct reads what is to be healed.
func healAct(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) vnfm.Act {
	var m healModel
	for name, into := range map[string]any{"vnfc_ids": &m.VNFCIDs, "vdu_ids": &m.VDUIDs, "replace_volumes": &m.ReplaceVolumes, "cause": &m.Cause} {
		diags.Append(config.GetAttribute(ctx, path.Root(name), into)...)
	}
	return vnfm.Act{Heal: &vnfm.HealSpec{
		Cause: m.Cause.ValueString(), VNFCIDs: tfutil.Strings(m.VNFCIDs), VDUIDs: tfutil.Strings(m.VDUIDs), Storage: m.ReplaceVolumes.ValueBool(),
	}}
}
