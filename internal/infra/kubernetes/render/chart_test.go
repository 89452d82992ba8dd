package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func deploymentOf(name, labels string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: " + name + ", labels: {" + labels + "} }\nspec: { replicas: {{ .Values.replicas | default 1 }} }\n---\n"
}

func TestChartIsRendered(t *testing.T) {
	target := targettest.Chart(map[string]string{
		"templates/amf.yaml": deploymentOf("{{ .Release.Name }}-amf", ""),
		"templates/job.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: { name: migrate, annotations: { helm.sh/hook: pre-install } }\n---\n" +
			"apiVersion: v1\nkind: Pod\nmetadata: { name: check, annotations: { helm.sh/hook: test } }\n",
		"crds/a.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: as.example.com }\n",
	}, map[string]int{"amf": 3})
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	var keys []string
	for _, o := range r.Objects {
		keys = append(keys, o.Key)
	}
	assert.Equal(t, []string{"apiextensions.k8s.io/v1/CustomResourceDefinition as.example.com", "apps/v1/Deployment core-1-amf"}, keys, "objects")
	if len(r.Release.Hooks) != 1 || r.Release.Hooks[0].Object.Key != "batch/v1/Job migrate" || r.Release.Hooks[0].Object.Digest == "" {
		t.Errorf("hooks: %+v", r.Release.Hooks)
	}
	if diff := cmp.Diff([][]string{{"pre-install hook Job migrate"}, nil}, [][]string{r.Release.running(helm.PreInstall), r.Release.running(helm.PreUpgrade, helm.Test)}); diff != "" {
		t.Errorf("hooks that run (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"name": "core-1-amf", "labels": map[string]any{"app.kubernetes.io/managed-by": "Helm"},
		"annotations": map[string]any{"meta.helm.sh/release-name": "core-1", "meta.helm.sh/release-namespace": "ran"},
	}
	assert.Empty(t, cmp.Diff(want, r.Objects[1].Content["metadata"]), "metadata")
	require.True(t, r.Objects[0].Shared, "what the directory crds holds is shared, and nothing else")
	assert.False(t, r.Objects[1].Shared, "what the directory crds holds is shared, and nothing else")
	if got := r.Objects[1].Scaling; got == nil || got.Count != 3 {
		t.Errorf("scaling: %+v", got)
	}
}

func TestWorkloadsOfCharts(t *testing.T) {
	tests := map[string]struct {
		templates string
		want      string
	}{
		"by its name":        {deploymentOf("amf", "") + deploymentOf("core-1-amf", ""), "amf"},
		"release and name":   {deploymentOf("core-1-amf", "") + deploymentOf("x", "app.kubernetes.io/name: amf"), "core-1-amf"},
		"release and chart":  {deploymentOf("core-1-core-amf", ""), "core-1-core-amf"},
		"by its component":   {deploymentOf("x", "app.kubernetes.io/component: amf") + deploymentOf("z", "app.kubernetes.io/name: amf"), "x"},
		"by its name label":  {deploymentOf("x", "app.kubernetes.io/name: amf") + deploymentOf("z", "app.kubernetes.io/name: smf"), "x"},
		"by two name labels": {deploymentOf("x", "app.kubernetes.io/name: amf") + deploymentOf("z", "app.kubernetes.io/name: amf"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Chart(map[string]string{"templates/a.yaml": tt.templates}, map[string]int{"amf": 1}))
			if tt.want == "" {
				const want = `VDU "amf" has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named "amf": the workloads of the package are apps/v1/Deployment x, apps/v1/Deployment z; nor is one named core-1-amf or amf-core-1 or core-1-core-amf, nor does exactly one have the label app.kubernetes.io/component or app.kubernetes.io/name; the name of the VDU (properties.name in the VNFD) or vdu_mapping says which one it is`
				require.Len(t, ps, 1)
				assert.Equal(t, want, ps[0].String(), "problems")
				return
			}
			if len(ps) > 0 || r.VDUs["amf"] == nil || r.VDUs["amf"].Name != tt.want {
				t.Errorf("the workload is %+v, want %s; problems: %v", r.VDUs["amf"], tt.want, ps)
			}
		})
	}
}

// TestVDUsOfSubCharts finds VDUs in enabled sub-charts at any depth, by the name of the sub-chart or its alias.
func TestVDUsOfSubCharts(t *testing.T) {
	named := deploymentOf(`{{ .Release.Name }}-{{ .Chart.Name }}-{{ .Values.part | default "worker" }}`, "")
	files := map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: core\nversion: 1.0.0\ndependencies:\n" +
			"- { name: upf, version: 1.0.0 }\n- { name: upf, version: 1.0.0, alias: edge }\n- { name: spare, version: 1.0.0, condition: spare.enabled }\n",
		"values.yaml":                              "upf: { part: forwarder, meter: { part: counter } }\nedge: { part: router, meter: { part: gauge } }\nspare: { enabled: false }\n",
		"charts/upf/Chart.yaml":                    "apiVersion: v2\nname: upf\nversion: 1.0.0\ndependencies: [ { name: meter, version: 1.0.0 } ]\n",
		"charts/upf/templates/a.yaml":              named,
		"charts/upf/charts/meter/Chart.yaml":       "apiVersion: v2\nname: meter\nversion: 1.0.0\n",
		"charts/upf/charts/meter/templates/a.yaml": named,
		"charts/spare/Chart.yaml":                  "apiVersion: v2\nname: spare\nversion: 1.0.0\n",
		"charts/spare/templates/a.yaml":            named,
	}
	target := targettest.Chart(files, map[string]int{"forwarder": 2, "router": 3, "counter": 1, "gauge": 1})
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	for id, want := range map[string]string{"forwarder": "core-1-upf-forwarder", "router": "core-1-edge-router", "counter": "core-1-meter-counter", "gauge": "core-1-meter-gauge"} {
		if o := r.VDUs[id]; o == nil || o.Name != want {
			t.Errorf("the workload of %s is %+v, want %s", id, o, want)
		}
	}
	assert.Equal(t, []string{"core", "upf", "edge", "meter", "meter"}, r.Release.ChartNames(), "charts")
}

func TestCountsGoIntoValues(t *testing.T) {
	files := map[string]string{
		"values.yaml":      "amf: { replicas: 1 }\n",
		"templates/a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf }\nspec: { replicas: {{ .Values.amf.replicas }}, paused: {{ gt (int .Values.amf.replicas) 2 }} }\n",
	}
	target := targettest.Chart(files, map[string]int{"amf": 3})
	target.Instance.AdditionalParams = map[string]any{"helm_value_names": map[string]any{"amf": map[string]any{"replica": "amf.replicas"}}}
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	if r.VDUs["amf"].Field("spec", "paused") != true || r.VDUs["amf"].Scaling.Count != 3 {
		t.Errorf("the value did not reach the template: %v, %+v", r.VDUs["amf"].Content, r.VDUs["amf"].Scaling)
	}
	target.Instance.AdditionalParams = map[string]any{"helm_value_names": map[string]any{"amf": map[string]any{"replica": "amf.count"}}}
	const want = `additional parameter "helm_value_names" names a value "amf.count" that is not the count of VDU "amf": with that value at 3, apps/v1/Deployment amf (Files/core/templates/a.yaml) has 1 replicas`
	if _, ps = Render(budget.New(t.Context(), budget.Limits{}), target); len(ps) != 1 || ps[0].String() != want {
		t.Errorf("problems: %v", ps)
	}
}

// TestCountsInValuesHaveNoEffect warns only if helm_parameters contain a count that follows from the VNFD.
func TestCountsInValuesHaveNoEffect(t *testing.T) {
	const warning = `the value %s in helm_parameters has no effect on the count of VDU "amf": the count, 1, follows from scale levels and VNFD; set scale_levels and remove the value`
	names := func(path string) map[string]any {
		return map[string]any{"amf": map[string]any{"replica": path}}
	}
	for name, tt := range map[string]struct {
		params  map[string]any
		stopped bool
		want    string
	}{
		"the count, by its name":    {params: map[string]any{"helm_value_names": names("replicas"), "helm_parameters": map[string]any{"replicas": 3}}, want: "replicas"},
		"the count, by its path":    {params: map[string]any{"helm_value_names": names("nodes[1].count"), "helm_parameters": map[string]any{"nodes[1].count": 3, "replicas": 1}}, want: "nodes.1.count"},
		"the same count":            {params: map[string]any{"helm_value_names": names("replicas"), "helm_parameters": map[string]any{"replicas": 1}}},
		"stopped":                   {params: map[string]any{"helm_value_names": names("replicas"), "helm_parameters": map[string]any{"replicas": 3}}, stopped: true},
		"replicas that are ignored": {params: map[string]any{"helm_parameters": map[string]any{"replicas": 3}}, want: "replicas"},
		"ignored and stopped":       {params: map[string]any{"helm_parameters": map[string]any{"replicas": 3}}, stopped: true},
		"another value":             {params: map[string]any{"helm_parameters": map[string]any{"size": 3}}},
		"one of several":            {params: map[string]any{"helm_parameters": map[string]any{"replicas": 3, "proxy": map[string]any{"replicas": 3}}}},
		"one beside a default":      {params: map[string]any{"helm_parameters": map[string]any{"replicas": 5, "proxy": map[string]any{"replicas": 5}, "other": map[string]any{"replicas": 3}}}},
		"none":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			target := targettest.Chart(map[string]string{
				"values.yaml":      "replicas: 2\n",
				"templates/a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf }\nspec: { replicas: {{ if .Values.nodes }}{{ (index .Values.nodes 1).count }}{{ else }}{{ .Values.replicas }}{{ end }} }\n",
			}, map[string]int{"amf": 1})
			target.Instance.AdditionalParams = tt.params
			if tt.stopped {
				target.Instance.OperationalState = vnfm.Stopped
			}
			_, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
			require.False(t, ps.HasErrors(), "%v", ps)
			if tt.want == "" {
				require.Empty(t, ps)
				return
			}
			require.Len(t, ps, 1)
			require.Equal(t, fmt.Sprintf(warning, tt.want), ps[0].String())
		})
	}
}

// TestAutoscalersOfCharts leaves replicas to an autoscaler in the chart or in a sub-chart, even if a value sets them.
func TestAutoscalersOfCharts(t *testing.T) {
	const (
		hpa  = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: a }\nspec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: core-1-amf } }\n"
		keda = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: { name: a }\nspec: { scaleTargetRef: { name: core-1-amf } }\n"
	)
	for name, tt := range map[string]struct {
		file, autoscaler string
		fromZero         bool
	}{
		"HPA": {"templates/b.yaml", hpa, false}, "KEDA": {"templates/b.yaml", keda, true}, "KEDA of a sub-chart": {"charts/scaler/templates/b.yaml", keda, true},
	} {
		t.Run(name, func(t *testing.T) {
			target := targettest.Chart(map[string]string{
				"Chart.yaml":               "apiVersion: v2\nname: core\nversion: 1.0.0\ndependencies: [ { name: scaler, version: 1.0.0 } ]\n",
				"charts/scaler/Chart.yaml": "apiVersion: v2\nname: scaler\nversion: 1.0.0\n",
				"templates/a.yaml":         deploymentOf("{{ .Release.Name }}-amf", ""),
				tt.file:                    tt.autoscaler,
			}, map[string]int{"amf": 3})
			target.Instance.AdditionalParams = map[string]any{"helm_value_names": map[string]any{"amf": map[string]any{"replica": "replicas"}}}
			r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
			require.Empty(t, ps)
			state, scaling := r.States["amf"], r.VDUs["amf"].Scaling
			if !state.Autoscaled || state.Replicas != nil || scaling.DriverOwned() || scaling.FromZero != tt.fromZero || scaling.Count != 3 {
				t.Errorf("state %+v, scaling %+v", state, scaling)
			}

			target.Flavour.Aspects = []vnfm.ScalingAspect{
				{ID: "load", StepDeltas: []string{"one"}, Deltas: map[string]map[string]int{"one": {"amf": 1}}},
				{ID: "other", StepDeltas: []string{"one"}, Deltas: map[string]map[string]int{"one": {"smf": 1}}},
			}
			target.Instance.ScaleLevels = map[string]int{"load": 1, "other": 1}
			_, ps = Render(budget.New(t.Context(), budget.Limits{}), target)
			require.Len(t, ps, 1)
			require.False(t, ps.HasErrors())
			require.Contains(t, ps[0].String(), `scale level of aspect "load" does not change the number of VNFCs of VDU "amf"`)
		})
	}
}

func TestChartProblems(t *testing.T) {
	const amf = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf }\nspec: { replicas: 1 }\n"
	tests := map[string]struct {
		params map[string]any
		change func(*vnfm.Target)
		want   string
	}{
		"path type":     {params: map[string]any{"helm_chart_path": 1}, want: `additional parameter "helm_chart_path" must be the path of a chart in the package`},
		"path absent":   {params: map[string]any{"helm_chart_path": "Files/smf"}, want: `additional parameter "helm_chart_path" names no chart of the package: "Files/smf" is neither a .tgz file nor a directory with Chart.yaml; its charts are Files/core`},
		"path URL":      {params: map[string]any{"helm_chart_path": "https://x/a.tgz"}, want: `additional parameter "helm_chart_path" names a URL: put the chart at "https://x/a.tgz" into the package`},
		"path outside":  {params: map[string]any{"helm_chart_path": "../core"}, want: `additional parameter "helm_chart_path" names a path outside of the package: "../core" must be relative to the root of the package`},
		"both forms":    {params: map[string]any{"helm_chart_path": "Files/core", "lcm-kubernetes-def-files": []any{"Files/core/Chart.yaml"}}, want: `additional parameter "helm_chart_path" contradicts lcm-kubernetes-def-files: an instance consists of manifests or of a chart`},
		"values type":   {params: map[string]any{"helm_parameters": "a=b"}, want: `additional parameter "helm_parameters" must map values of the chart, or their paths, to the wanted values: it is a string: write a map; a variable for it needs a type, such as any or map(any)`},
		"values path":   {params: map[string]any{"helm_parameters": map[string]any{"a.b=c": 1}}, want: `additional parameter "helm_parameters" has a key that cannot be used: "a.b=c" is not a path of values such as a.b[0].c`},
		"value names":   {params: map[string]any{"helm_value_names": []any{}}, want: `additional parameter "helm_value_names" must map VDU ids to { replica }: it is a list`},
		"value VDU":     {params: map[string]any{"helm_value_names": map[string]any{"smf": map[string]any{"replica": "a"}}}, want: `additional parameter "helm_value_names" names a VDU "smf" that deployment flavour "simple" does not have: its VDUs are amf`},
		"value replica": {params: map[string]any{"helm_value_names": map[string]any{"amf": map[string]any{"replicas": "a"}}}, want: `additional parameter "helm_value_names" must be { replica = path of a value } for VDU "amf"`},
		"release":       {params: map[string]any{"helm_release_name": "A_b"}, want: `additional parameter "helm_release_name" must be a valid name of a Helm release: lower case letters, digits, hyphens and dots, 53 at most`},
		"version":       {params: map[string]any{"helm_kube_version": "new"}, want: `additional parameter "helm_kube_version" must be a version of Kubernetes: such as 1.33.2, in quotes; without it the chart is rendered for v1.34.0`},
		"API versions":  {params: map[string]any{"helm_api_versions": "a/v1"}, want: `additional parameter "helm_api_versions" must be a list of API versions: such as monitoring.coreos.com/v1; those of Kubernetes itself need not be given`},
		"no chart": {
			params: map[string]any{"helm_parameters": map[string]any{}}, change: func(t *vnfm.Target) { t.Flavour.MCIOPs = nil },
			want: `additional parameter "helm_parameters" is for a chart, but the VNFD names none: helm_chart_path says which one it is; its charts are Files/core`,
		},
		"two charts": {
			change: func(t *vnfm.Target) {
				t.Flavour.MCIOPs = append(t.Flavour.MCIOPs, vnfm.MCIOP{ID: "b", File: "Files/b.tgz"})
			},
			want: `deployment flavour "simple" has 2 charts (Mciop nodes), but an instance consists of one: choose with additional_params["helm_chart_path"]; they are Files/core, Files/b.tgz`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			target := targettest.Chart(map[string]string{"templates/a.yaml": amf}, map[string]int{"amf": 1})
			target.Instance.AdditionalParams = tt.params
			if tt.change != nil {
				tt.change(target)
			}
			_, ps := new(Renderings).Preview(t.Context(), target)
			require.NotEmpty(t, ps)
			assert.Equal(t, tt.want, ps[0].String(), "problems:\n%s", cmp.Diff(tt.want, strings.TrimSpace(ps.Err().Error())))
		})
	}
}

func TestNamespaceOfAChartMustBeKnown(t *testing.T) {
	target := targettest.Chart(map[string]string{"templates/a.yaml": deploymentOf("amf", "")}, map[string]int{"amf": 1})
	for namespace, want := range map[string]bool{"ran": false, "": true} {
		target.Instance.Namespace = namespace
		preview, ps := new(Renderings).Preview(t.Context(), target)
		require.Empty(t, ps)
		assert.Equal(t, want, preview.NamespaceNeeded, "in namespace %q: needed", namespace)
	}
}

func TestKeysThatAChartGivesTwice(t *testing.T) {
	const twice = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf }\nspec: { replicas: 1, replicas: 1, paused: true }\n"
	_, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Chart(map[string]string{"templates/a.yaml": twice}, map[string]int{"amf": 1}))
	assert.Empty(t, ps)
}
