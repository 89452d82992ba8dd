package workloadcluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	return append(names, "id", "status", "application_credential_id", "server_dry_run", "timeouts", "addons_status.key.status")
}

// TestEveryArgumentIsRead: each argument of each form reaches the specification or the
// access to a chart.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	template := magnum.Template{Chart: vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Repository: "https://charts.example", Name: "cluster"}}}
	definition, err := template.Definition()
	require.NoError(t, err)
	forms := []string{"topology", "chart", "template", "cluster_template"}
	plain := []string{"credentials_sink.headers", "chart.password", "addons.key.chart.password", "cluster_template.chart_credentials.password"}
	for _, c := range []struct {
		form      string
		writeOnly bool
	}{{"topology", false}, {"chart", false}, {"chart", true}, {"template", false}, {"cluster_template", true}} {
		set := map[string]any{
			"lock_timeout": "30s", "credentials_sink.timeout": "30s", "addons.key.values.0": "a: b",
			"node_groups.key.variables.key": "7", "cluster_template.definition": definition,
			"cluster_template.labels": map[string]tftypes.Value{"octavia_provider": tftypes.NewValue(tftypes.String, "ovn")},
		}
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
				return []any{spec, m.nodeGroups(ctx, diags), tfutil.GoDuration(m.LockTimeout), m.chartOrigin(ctx, m, diags), m.addonOrigin(ctx, "key", m, diags)}
			})
		})
	}
}

// TestObserved: each field that a management cluster reports reaches the state.
func TestObserved(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, []string{"Paused", "InstanceID", "Conditions.0.Generation"}, func(s vnfm.ClusterState) any { return newObserved(&s) })
}

// TestMachineView: each field of a machine reaches the data source.
func TestMachineView(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, []string{"Resource", "Namespace", "ConnectionPoints", "Volumes", "Restarts"}, func(v vnfm.VNFC) any { return newMachineView(&v) })
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

// TestCertificateRequest: each argument of mint reaches the specification.
func TestCertificateRequest(t *testing.T) {
	t.Parallel()
	value, diags := tfutil.DurationType{}.ValueFromString(t.Context(), types.StringValue("90m"))
	require.Empty(t, diags)
	ttl, ok := value.(tfutil.Duration)
	require.True(t, ok)
	m := mintModel{CommonName: types.StringValue("robot"), Organizations: tfutil.StringList([]string{"pipelines"}), TTL: ttl}
	require.Equal(t, &vnfm.MintSpec{CommonName: "robot", Organizations: []string{"pipelines"}, TTL: 90 * time.Minute}, m.toDomain(t.Context(), &diags))
	require.Empty(t, diags)
}
