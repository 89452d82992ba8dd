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

// dayTwoAttributes have something done once to a cluster that stands.
func dayTwoAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"regenerate_kubeconfig": schema.StringAttribute{
			MarkdownDescription: "Any text, for example a date. A change deletes the Secret `<cluster>-kubeconfig` once, and waits until Cluster API has made another one and the workload API answers with it. " +
				"The first text of a new cluster is only noted. **The certificate of the old kubeconfig stays valid until it expires**: Kubernetes revokes no client certificates. To shut out who holds it, change the CA of the cluster.",
			Optional:   true,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"heal":              healAttribute(),
		attrs.SinkAttribute: attrs.SinkSchema("A web server that is sent the kubeconfig of the cluster."),
	}
}

// regenerates reports whether the kubeconfig is asked to be made anew. A trigger that
// was taken out of the configuration is over.
func regenerates(plan, state *model) bool {
	return !plan.Regenerate.IsNull() && !plan.Regenerate.Equal(state.Regenerate)
}

// expiryWarning is how long before the expiry of a kubeconfig its reader is warned.
// Cluster API renews one in the second half of its year, so that this is not normal.
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
		fmt.Sprintf("Its client certificate %s %s. Cluster API renews the kubeconfigs that it makes itself long before; change regenerate_kubeconfig of the cluster to have a new one made now, or have its control plane provider look after it.",
			is, tfutil.Time(notAfter).ValueString()))
}
