package workloadcluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// computedNames are the attributes that no specification is made of.
func computedNames() []string {
	names := slices.Collect(maps.Keys(computedAttributes()))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "api_version" })
	return append(names, "id", "status", "drift", "operations", "changes", "application_credential_id", "server_dry_run", "timeouts", "addons_status.key.status", "addons_status.key.drift")
}

// TestEveryArgumentIsRead: each argument of each form reaches the specification or the
// access to a chart.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	template := magnum.Template{Chart: vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Repository: "https://charts.example", Name: "cluster"}}}
	definition, err := template.Definition()
	require.NoError(t, err)
	forms := []string{"topology", "chart", "clusterctl_template", "cluster_template"}
	plain := []string{"credentials_sink.headers", "chart.password", "addons.key.chart.password", "cluster_template.chart_credentials.password"}
	for _, c := range []struct {
		form      string
		writeOnly bool
	}{{"topology", false}, {"chart", false}, {"chart", true}, {"clusterctl_template", false}, {"cluster_template", true}} {
		set := validValues(definition)
		ignored := append(computedNames(), "credentials_sink.headers_wo_version", "addons.key.chart.password_wo_version")
		for _, form := range forms {
			if form != c.form {
				set[form] = nil
			}
		}
		for _, name := range plain {
			form, _, _ := strings.Cut(name, ".")
			switch {
			case !c.writeOnly:
				set[name+"_wo"] = nil
			case form == c.form || !slices.Contains(forms, form):
				// The write-only value wins.
				ignored = append(ignored, name)
			}
		}
		switch c.form {
		case "chart":
			ignored = append(ignored, "chart.password_wo_version")
		case "cluster_template":
			ignored = append(ignored, "cluster_template.chart_credentials.password_wo_version")
		default:
			ignored = append(ignored, "chart_status")
		}
		t.Run(fmt.Sprintf("%s, write-only %t", c.form, c.writeOnly), func(t *testing.T) {
			t.Parallel()
			modeltest.EachArgument(t, modeltest.Full(t, NewResource(), set), ignored, func(m *model, diags *diag.Diagnostics) any {
				ctx := t.Context()
				spec, known := m.Spec(ctx, nil, diags)
				if !known {
					t.Error("the specification is not known")
				}
				// A new cluster removes no machine: the specification has none to remove.
				return []any{spec, m.ApplicationCredentialExpiresAt, m.nodeGroups(ctx, diags), tfutil.GoDuration(m.LockTimeout), m.OnUnreachable, m.chartOrigin(ctx, m, diags), m.addonOrigin(ctx, "key", m, diags)}
			})
		})
	}
}

// TestObserved: each field that a management cluster reports reaches the state.
func TestObserved(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, []string{"Paused", "InstanceID", "Conditions.0.Generation", "CredentialExpiresAt", "OtherKubelets.0", "DeletingSince", "Finalizers.0"}, func(s vnfm.ClusterState) any { return newObserved(&s) })
}

// TestCredentialExpiry: the time at which the application credential expires reaches the state of the resource.
func TestCredentialExpiry(t *testing.T) {
	t.Parallel()
	var m model
	m.setCredentialExpiry(&vnfm.ClusterState{CredentialExpiresAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.Equal(t, "2027-01-01T00:00:00Z", m.ApplicationCredentialExpiresAt.ValueString())
	for _, none := range []*vnfm.ClusterState{nil, {}} {
		m.setCredentialExpiry(none)
		require.True(t, m.ApplicationCredentialExpiresAt.IsNull())
	}
}

// TestMachineView: each field of a machine reaches the data source.
func TestMachineView(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, []string{"Resource", "Namespace", "Zone", "ConnectionPoints", "Volumes", "Restarts"}, func(v vnfm.VNFC) any { return newMachineView(&v) })
}

// TestChartRoundTrip: a chart that went into a status comes out of it.
func TestChartRoundTrip(t *testing.T) {
	t.Parallel()
	want := modeltest.Filled[vnfm.Chart]()
	m := &model{charted: charted{AddonsStatus: types.MapValueMust(addonStatusType, map[string]attr.Value{"key": addonStatus(&want, addonDeployed)})}}
	var diags diag.Diagnostics
	chart := tfutil.As[chartStatusModel](t.Context(), chartStatusFromDomain(&want).toTerraform(), &diags).toDomain()
	require.Empty(t, cmp.Diff(&want, chart))
	require.Empty(t, cmp.Diff(&want, m.addonChart(t.Context(), "key", &diags)))
	require.Empty(t, diags)
}

// validValues are values of the arguments whose types take no other text, by their paths.
func validValues(definition string) map[string]any {
	set := map[string]any{
		"lock_timeout": "30s", "rollout_after": "2026-01-01T00:00:00Z", "kubeconfig_not_after": "2026-01-01T00:00:00Z", "credentials_sink.timeout": "30s", "addons.key.values.0": "a: b", "addons.key.profile": "cilium",
		"node_groups.key.class_variables": "a: b", "topology.class_variables": "a: b", "control_plane.class_variables": "a: b", "chart.values.0": "a: b", "cluster_template.definition": definition,
		"certificate_authorities_not_after": "2026-01-01T00:00:00Z", "control_plane_certificates_not_after": "2026-01-01T00:00:00Z", "application_credential_expires_at": "2026-01-01T00:00:00Z",
		"openstack.application_credential.expires_at": "2026-01-01T00:00:00Z",
		"openstack.deletion_policy.load_balancers":    "delete", "openstack.deletion_policy.volumes": "delete",
		"cluster_template.labels": map[string]tftypes.Value{"octavia_provider": tftypes.NewValue(tftypes.String, "ovn")},
	}
	for _, at := range []string{"control_plane", "node_groups.key"} {
		for _, name := range []string{"health_check.node_startup_timeout", "health_check.unhealthy_timeout", "deletion.node_drain_timeout", "deletion.node_volume_detach_timeout", "deletion.node_deletion_timeout"} {
			set[at+"."+name] = "1m"
		}
	}
	return set
}

// TestEmptyIsNoChange: an empty collection needs no operation beside a null one.
func TestEmptyIsNoChange(t *testing.T) {
	t.Parallel()
	empty := map[string]tftypes.Value{}
	for _, path := range []string{"control_plane.labels", "node_groups.key.labels", "node_groups.key.annotations"} {
		decoded := func(value any) *model {
			values := validValues("")
			delete(values, "cluster_template.definition")
			values[path] = value
			for _, form := range []string{"topology", "clusterctl_template", "cluster_template"} {
				values[form] = nil
			}
			return modeltest.Decode[model](t, modeltest.Full(t, NewResource(), values))
		}
		require.False(t, decoded(empty).Differs(t.Context(), decoded(nil)), "%s", path)
		require.False(t, decoded(nil).Differs(t.Context(), decoded(empty)), "%s", path)
	}
}

// TestCertificateRequest: each argument of certificate_request reaches the specification.
func TestCertificateRequest(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	m := certificateModel{CommonName: types.StringValue("robot"), Organizations: tfutil.StringSet([]string{"pipelines"}), TTL: timetypes.NewGoDurationValueFromStringMust("90m")}
	require.Equal(t, &vnfm.ClientCertificateSpec{CommonName: "robot", Organizations: []string{"pipelines"}, TTL: 90 * time.Minute}, m.toDomain(t.Context(), &diags))
	require.Empty(t, diags)
}

// TestStatus: a cluster whose last operation completed is READY; other states have the words of
// the record.
func TestStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[vnfm.InstanceStatus]string{
		vnfm.StatusInstantiated: "READY", vnfm.StatusFailedTemp: "FAILED_TEMP", vnfm.StatusProcessing: "PROCESSING", vnfm.StatusUnknown: "UNKNOWN",
	} {
		var m model
		m.SetBase(&vnfm.Instance{Status: status, Cluster: &vnfm.ClusterSpec{}})
		require.Equal(t, want, m.Status.ValueString())
	}
}

// TestRolloutAfter: the time reaches Cluster API in UTC and in whole seconds.
func TestRolloutAfter(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	m := &model{RolloutAfter: timetypes.NewRFC3339ValueMust("2026-01-02T03:04:05.5+01:00")}
	require.Equal(t, "2026-01-02T02:04:05Z", instantText(m.RolloutAfter, &diags))
	require.Empty(t, instantText((&model{}).RolloutAfter, &diags))
	require.Empty(t, diags)
}
