package workloadcluster

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestExpiryWarnings: each thing that expires has its notice, its words and what renews it.
func TestExpiryWarnings(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		days   int
		set    func(s *vnfm.ClusterState, at time.Time)
		advice string
	}{
		"Kubeconfig":                {7, func(s *vnfm.ClusterState, at time.Time) { s.KubeconfigNotAfter = at }, "Change kubeconfig_rotation_trigger of the cluster"},
		"Certificate Authority":     {30, func(s *vnfm.ClusterState, at time.Time) { s.AuthoritiesNotAfter = at }, "Cluster API does not renew certificate authorities"},
		"Control Plane Certificate": {30, func(s *vnfm.ClusterState, at time.Time) { s.ControlPlaneNotAfter = at }, "Change rollout_after of the cluster"},
		"Application Credential":    {7, func(s *vnfm.ClusterState, at time.Time) { s.CredentialExpiresAt = at }, "Change openstack.application_credential.expires_at of the cluster"},
	} {
		notice := time.Duration(c.days) * 24 * time.Hour
		for name, end := range map[string]struct {
			left          time.Duration
			summary, says string
		}{
			"none":      {},
			"far":       {left: notice + time.Hour},
			"near":      {notice - time.Hour, "Expires Soon", " is valid until "},
			"over":      {-time.Hour, "Has Expired", " was valid until "},
			"just over": {-time.Second, "Has Expired", " was valid until "},
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				t.Parallel()
				var diags diag.Diagnostics
				var s vnfm.ClusterState
				at := time.Now().Add(end.left)
				if end.left != 0 {
					c.set(&s, at)
				}
				warnOfExpiries("edge", &s, &diags)
				if end.summary == "" {
					assert.Empty(t, diags)
					return
				}
				require.Equal(t, 1, diags.WarningsCount())
				assert.Equal(t, what+` of Workload Cluster "edge" `+end.summary, diags[0].Summary())
				assert.Contains(t, diags[0].Detail(), end.says+at.UTC().Format(time.RFC3339)+". ")
				assert.Contains(t, diags[0].Detail(), c.advice)
			})
		}
	}
}

// expiringAt is a cluster whose application credential expires then.
func expiringAt(t *testing.T, at timetypes.RFC3339) *model {
	t.Helper()
	attributes := resourceSchema(t.Context()).Attributes["openstack"].GetType().(attr.TypeWithAttributeTypes).AttributeTypes() //nolint:forcetypeassert // an object
	values := func(of map[string]attr.Type, set map[string]attr.Value) types.Object {
		all := map[string]attr.Value{}
		for name, kind := range of {
			all[name] = set[name]
			if set[name] == nil {
				value, err := kind.ValueFromTerraform(t.Context(), tftypes.NewValue(kind.TerraformType(t.Context()), nil))
				require.NoError(t, err)
				all[name] = value
			}
		}
		return types.ObjectValueMust(of, all)
	}
	credential := attributes["application_credential"].(attr.TypeWithAttributeTypes).AttributeTypes() //nolint:forcetypeassert // an object
	return &model{OpenStack: values(attributes, map[string]attr.Value{
		"vim_id": types.StringValue("cloud"), "application_credential": values(credential, map[string]attr.Value{"expires_at": at}),
	})}
}

// TestCredentialExpiryHasPassed: a new application credential must not have expired; one that expired since its creation is no error.
func TestCredentialExpiryHasPassed(t *testing.T) {
	t.Parallel()
	const past, other, future = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z", "2999-01-01T00:00:00Z"
	for name, c := range map[string]struct {
		at, before string
		refused    bool
	}{
		"none":               {},
		"later":              {at: future},
		"passed":             {at: past, refused: true},
		"passed since":       {at: past, before: past},
		"passed, other zone": {at: "2026-01-02T04:04:05+01:00", before: past},
		"other passed one":   {at: past, before: other, refused: true},
		"removed":            {before: past},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value := func(text string) timetypes.RFC3339 {
				if text == "" {
					return timetypes.NewRFC3339Null()
				}
				return timetypes.NewRFC3339ValueMust(text)
			}
			var state *model
			if c.before != "" {
				state = expiringAt(t, value(c.before))
			}
			var diags diag.Diagnostics
			expiringAt(t, value(c.at)).checkCredentialExpiry(t.Context(), state, &diags)
			if !c.refused {
				assert.Empty(t, diags)
				return
			}
			assert.Equal(t, diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("openstack").AtName("application_credential").AtName("expires_at"), "Time of Expiry Has Passed",
				"A new application credential would have expired at "+past+". Set a later time, or remove the argument for one that does not expire.")}, diags)
		})
	}
}
