package workloadcluster

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
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

// expiryWarning is the remaining lifetime of a kubeconfig below which reading it warns.
// Cluster API normally renews it half a year earlier.
const expiryWarning = 7 * 24 * time.Hour

// warnOfExpiry warns when the client certificate of a kubeconfig is near its end.
func warnOfExpiry(name string, notAfter time.Time, diags *diag.Diagnostics) {
	left := time.Until(notAfter)
	if notAfter.IsZero() || left >= expiryWarning {
		return
	}
	summary, is := "Expires Soon", "is valid until"
	if left <= 0 {
		summary, is = "Has Expired", "was valid until"
	}
	diags.AddWarning(fmt.Sprintf("Kubeconfig of %s %s", titled(name), summary),
		fmt.Sprintf("Its client certificate %s %s. Cluster API renews its own kubeconfigs long before they expire. Change kubeconfig_rotation_trigger of the cluster to create a new one now; a kubeconfig of another control plane provider is renewed by that provider.",
			is, tfutil.Instant(notAfter).ValueString()))
}
