package workloadcluster

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const day = 24 * time.Hour

// expiring is something of a cluster that expires.
type expiring struct {
	// what names it in a summary, subject in a sentence about its end.
	what, subject string
	// notice is the remaining lifetime below which reading it warns.
	notice time.Duration
	// advice says what renews it.
	advice string
}

var (
	// expiringKubeconfig is normally renewed half a year before its end.
	expiringKubeconfig = expiring{
		"Kubeconfig", "Its client certificate", 7 * day,
		"Cluster API renews its own kubeconfigs long before they expire. Change kubeconfig_rotation_trigger of the cluster to create a new one now; a kubeconfig of another control plane provider is renewed by that provider.",
	}
	expiringAuthority = expiring{
		"Certificate Authority", "The first of its certificate authorities, those of the API server, of etcd and of the front proxy,", 30 * day,
		"Cluster API does not renew certificate authorities, and without them no machine joins and no user logs in. Replace the cluster before, or its authorities by hand in the Secrets <cluster>-ca, <cluster>-etcd and <cluster>-proxy.",
	}
	expiringControlPlane = expiring{
		"Control Plane Certificate", "The first certificate of a machine of the control plane", 30 * day,
		"Change rollout_after of the cluster: it replaces the machines one after the other, and new machines have new certificates. Cluster API does so by itself where the control plane has rollout.before.certificatesExpiryDays, " +
			"which is controlPlane.certificatesExpiryDays of the chart openstack.",
	}
	expiringCredential = expiring{
		"Application Credential", "It", 7 * day,
		"Without it OpenStack rejects Cluster API, and the cloud provider of the cluster if it has openstack.cloud_config. Change openstack.application_credential.expires_at of the cluster: the apply issues a new application credential in place.",
	}
)

// warn warns when something of a cluster is near its end.
func (e *expiring) warn(name string, at time.Time, diags *diag.Diagnostics) {
	left := time.Until(at)
	if at.IsZero() || left >= e.notice {
		return
	}
	summary, is := fmt.Sprintf("%s of %s Expires Soon", e.what, titled(name)), "is valid until"
	if left <= 0 {
		summary, is = fmt.Sprintf("%s of %s Has Expired", e.what, titled(name)), "was valid until"
	}
	diags.AddWarning(summary, fmt.Sprintf("%s %s %s. %s", e.subject, is, tfutil.Instant(at).ValueString(), e.advice))
}

// warnOfExpiries warns of all that is near its end.
func warnOfExpiries(name string, s *vnfm.ClusterState, diags *diag.Diagnostics) {
	expiringKubeconfig.warn(name, s.KubeconfigNotAfter, diags)
	expiringAuthority.warn(name, s.AuthoritiesNotAfter, diags)
	expiringControlPlane.warn(name, s.ControlPlaneNotAfter, diags)
	expiringCredential.warn(name, s.CredentialExpiresAt, diags)
}

// checkCredentialExpiry rejects a new application credential that would have expired already. One that expired after its creation is no
// error of a plan: it would stand in the way of a destroy.
func (m *model) checkCredentialExpiry(ctx context.Context, state *model, diags *diag.Diagnostics) {
	at := m.credentialExpiry(ctx, diags)
	if state != nil && state.credentialExpiry(ctx, diags) == at {
		return
	}
	if end, err := time.Parse(time.RFC3339, at); err == nil && !end.After(time.Now()) {
		diags.AddAttributeError(path.Root("openstack").AtName("application_credential").AtName("expires_at"), "Time of Expiry Has Passed",
			fmt.Sprintf("A new application credential would have expired at %s. Set a later time, or remove the argument for one that does not expire.", at))
	}
}

// credentialExpiry is the argument openstack.application_credential.expires_at; empty for none and while it is unknown.
func (m *model) credentialExpiry(ctx context.Context, diags *diag.Diagnostics) string {
	if !tfutil.FullyKnown(ctx, m.OpenStack) {
		return ""
	}
	if o := tfutil.As[openstackModel](ctx, m.OpenStack, diags); o != nil && o.ApplicationCredential != nil {
		return instantText(o.ApplicationCredential.ExpiresAt, diags)
	}
	return ""
}
