package workloadcluster

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
)

// dayTwoAttributes trigger one-time operations on an existing cluster.
func dayTwoAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"kubeconfig_rotation_trigger": schema.StringAttribute{
			MarkdownDescription: "Trigger, any string, for example a date; on create the trigger is only recorded. Changing this deletes the Secret `<cluster>-kubeconfig` once and waits for a new kubeconfig. " +
				"**The old client certificate stays valid until it expires**: Kubernetes revokes no client certificates.",
			Optional:   true,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"heal":              healAttribute(),
		attrs.SinkAttribute: attrs.SinkSchema("Web server that receives the kubeconfig of the cluster."),
	}
}

// rotatesKubeconfig reports whether the plan requests a new kubeconfig. Removing the trigger
// requests nothing.
func rotatesKubeconfig(plan, state *model) bool {
	return !plan.RotationTrigger.IsNull() && !plan.RotationTrigger.Equal(state.RotationTrigger)
}
