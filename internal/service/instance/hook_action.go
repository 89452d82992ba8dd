package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewHookAction returns the action vnf_run_hook.
func NewHookAction() action.Action {
	return &base.Action{
		Type: "vnf_run_hook", Verb: "Run Hook of", Title: "VNF Instance",
		Description: "Has the management driver work again, once, that the VNFD names for a hook: with the parameters that the instance has, and on all its VNFCs. It is the LCM operation MODIFY_INFO, without hooks of its own. " +
			"See the guide [Management drivers](../guides/management-drivers.md).",
		Subject: "instance_id", SubjectDescription: "Id of the `vnf_instance`.",
		Attributes: map[string]schema.Attribute{
			vnfm.AttributeHook: schema.StringAttribute{
				MarkdownDescription: "Hook of the interface Vnflcm in the VNFD, for example `instantiate_end`. Hooks of a termination are rejected.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
		},
		Act: func(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) vnfm.Act {
			var hook types.String
			diags.Append(config.GetAttribute(ctx, path.Root(vnfm.AttributeHook), &hook)...)
			return vnfm.Act{Hook: hook.ValueString()}
		},
	}
}
