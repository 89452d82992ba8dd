package render

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// tackerChart is a target with a chart that its flavour does not name, like packages for Tacker's first API.
func tackerChart(params map[string]any) *vnfm.Target {
	t := targettest.Chart(map[string]string{
		"values.yaml":      "count: 1\nservice: {port: 80}\n",
		"templates/a.yaml": deploymentAMF2("amf-{{ .Release.Name }}") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: '{{ .Values.service.port }}', count: '{{ .Values.count }}'}\n",
	}, map[string]int{"amf": 1})
	t.Flavour.MCIOPs = nil
	t.Flavour.Aspects = []vnfm.ScalingAspect{{ID: "calls", Deltas: map[string]map[string]int{"one": {"amf": 1}}}}
	t.Instance.AdditionalParams = params
	return t
}

// TestChartParamsOfTacker accepts an unchanged request for Tacker's first API if the chart is in the package.
func TestChartParamsOfTacker(t *testing.T) {
	target := tackerChart(map[string]any{
		"use_helm": "true", "helm_replica_values": map[string]any{"calls": "count"},
		"using_helm_install_param": []any{map[string]any{
			"exthelmchart": "false", "helmchartfile_path": "Files/core", "helmreleasename": "one", "helmparameter": []any{"service.port=8081", "service.name=a", "db.password=planted"},
		}},
		"helm_parameters": map[string]any{"service.name": "b"},
		"vdu_mapping":     map[string]any{"amf": map[string]any{"kind": "Deployment", "name": "amf-one", "helmreleasename": "one"}},
	})
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	require.Contains(t, r.digests(), "helm.sh/v1/Release one")
	require.Equal(t, map[string]string{"amf": "count"}, r.Release.CountValues)
	require.Equal(t, []string{"using_helm_install_param[0].helmparameter[2]"}, r.preview(target).ShownSecrets)
	for _, o := range r.Objects {
		if o.Name == "a" {
			require.Equal(t, map[string]any{"port": "8081", "count": "1"}, o.Field("data"))
		}
	}
}

func TestChartParamsOfTackerThatAreRefused(t *testing.T) {
	install := func(entries ...any) map[string]any { return map[string]any{"using_helm_install_param": entries} }
	for name, tt := range map[string]struct {
		params map[string]any
		want   string
	}{
		"repository": {install(map[string]any{"exthelmchart": "true", "helmchartname": "apache", "exthelmrepo_url": "https://charts.example.com"}),
			`additional parameter "using_helm_install_param" names the chart "apache" of a repository: put it into the package (helm pull apache --repo with exthelmrepo_url) and give helm_chart_path its path, helm_release_name the value of helmreleasename, and helm_parameters those of helmparameter`},
		"two": {install(map[string]any{"helmchartfile_path": "Files/core", "helmreleasename": "one", "helmparameter": []any{"db.password=planted"}},
			map[string]any{"helmchartfile_path": "Files/ran", "helmreleasename": "two"}),
			`additional parameter "using_helm_install_param" has 2 charts, but an instance consists of one: give each chart an instance of its own, with these additional_params, ` +
				"the values of its helmparameter in helm_parameters, and the entries of vdu_mapping that are of its release:\n" +
				"\n# instance 1\nadditional_params = {\n  helm_chart_path   = \"Files/core\"\n  helm_release_name = \"one\"\n}\n" +
				"\n# instance 2\nadditional_params = {\n  helm_chart_path   = \"Files/ran\"\n  helm_release_name = \"two\"\n}\n"},
		"mapping of another release": {map[string]any{"helm_chart_path": "Files/core", "helm_release_name": "one",
			"vdu_mapping": map[string]any{"amf": map[string]any{"kind": "Deployment", "name": "amf", "helmreleasename": "two"}}},
			`additional parameter "vdu_mapping" maps VDU "amf" to a workload of release "two", but the release of this instance is "one": move the entry to the instance that has that release`},
		"path": {install(map[string]any{"helmchartfile_path": "Files/none"}),
			`additional parameter "using_helm_install_param" (helmchartfile_path) names no chart of the package: "Files/none" is neither a .tgz file nor a directory with Chart.yaml; its charts are Files/core`},
		"setting": {install(map[string]any{"helmchartfile_path": "Files/core", "helmparameter": []any{"a=1", "planted"}}),
			`additional parameter "using_helm_install_param" has in helmparameter an element 1 that cannot be read: it must be as helm --set takes it, such as "service.port=8081"`},
		"contradiction": {map[string]any{"helm_chart_path": "Files/core", "using_helm_install_param": []any{map[string]any{"helmchartfile_path": "Files/core"}}},
			`additional parameter "using_helm_install_param" has helmchartfile_path, which contradicts helm_chart_path: keep one of them`},
		"aspect": {map[string]any{"helm_chart_path": "Files/core", "helm_replica_values": map[string]any{"other": "count"}},
			`additional parameter "helm_replica_values" names a scaling aspect "other" that deployment flavour "simple" does not have: its scaling aspects are "calls"`},
	} {
		_, ps := new(Renderings).Preview(t.Context(), tackerChart(tt.params))
		require.Len(t, ps, 1)
		assert.Equal(t, tt.want, ps[0].String(), "%s", name)
	}
}

// TestOneOfSeveralChartsOfTacker: an instance has one of several charts, and no VNFCs of VDUs in the others.
func TestOneOfSeveralChartsOfTacker(t *testing.T) {
	for param, params := range map[string]map[string]any{
		"using_helm_install_param": {"using_helm_install_param": []any{map[string]any{"helmchartfile_path": "Files/core", "helmreleasename": "one"}}},
		"helm_chart_path":          {"helm_chart_path": "Files/core", "helm_release_name": "one"},
	} {
		target := tackerChart(params)
		target.Flavour.VDUs = append(target.Flavour.VDUs, vnfm.VDU{ID: "smf", Name: "smf"})
		target.Package.Files = append(target.Package.Files, vnfm.PackageFile{Path: "Files/ran/Chart.yaml"})
		preview, ps := new(Renderings).Preview(t.Context(), target)
		require.Len(t, ps, 1)
		require.False(t, ps.HasErrors())
		require.Contains(t, ps[0].Summary, `additional parameter "`+param+`" picks no workload for VDUs "smf"`)
		require.Equal(t, vnfm.VDUState{Replicas: count(0)}, preview.VDUs["smf"])
	}
}

// TestForeignParams ignores parameters of other drivers.
func TestForeignParams(t *testing.T) {
	target := targettest.Manifests(map[string]string{"a.yaml": deploymentAMF}, map[string]int{"amf": 1})
	target.Instance.AdditionalParams = map[string]any{"upgrade_type": "RollingUpdate", "nfv": map[string]any{}, "use_helm": "false", "lcm-operation-user-data": "a"}
	target.SecretParams = map[string]any{"colour": "red"}
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.Empty(t, ps)
	assert.Equal(t, []string{"apps/v1/Deployment amf"}, slices.Sorted(maps.Keys(preview.Objects)))
}
