package helm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRender(t *testing.T) {
	for form, files := range map[string]fstest.MapFS{"directory": core(), "archive": packed(t)} {
		t.Run(form, func(t *testing.T) {
			r, ps := render(t, files, map[string]any{"amf": map[string]any{"replicas": float64(3)}, "db": map[string]any{"size": 1000000.0}})
			require.Len(t, ps, 1)
			require.Contains(t, ps[0].String(), "the number db.size is written with an exponent")
			root := "Files/core"
			if form == "archive" {
				root = "Files/core.tgz"
			}
			var got []string
			for _, m := range r.Manifests {
				got = append(got, m.File)
			}
			want := []string{root + "/charts/db/templates/a.yaml", root + "/templates/amf.yaml", root + "/templates/amf.yaml"}
			assert.Equal(t, want, got, "files")
			all := r.manifest()
			for _, text := range []string{"replicas: 3\n", `size: "1e+06"`, "name: site-db", "namespace: ran", "# Source: core/charts/db/templates/a.yaml\n"} {
				assert.Contains(t, all, text, "the manifest lacks")
			}
			require.Len(t, r.CRDs, 1)
			assert.Equal(t, root+"/crds/plan.yaml", r.CRDs[0].File, "definitions")
			assert.Equal(t, "Installed site.", r.notes, "notes")
		})
	}
}

func TestSubChartIsLeftOutByItsCondition(t *testing.T) {
	r := rendered(t, core(), map[string]any{"db": map[string]any{"enabled": false}})
	assert.NotContains(t, r.manifest(), "site-db", "the sub-chart is rendered")
}

func TestHooksRunInOrder(t *testing.T) {
	r := rendered(t, core(), nil)
	names := func(e Event) (out []string) {
		for _, h := range r.HooksAt(e) {
			out = append(out, h.record.Name)
		}
		return out
	}
	assert.Equal(t, []string{"zeroth", "second"}, names(PreInstall), "pre-install")
	assert.Equal(t, []string{"second"}, names(PreUpgrade), "pre-upgrade")
	for _, h := range r.Hooks {
		if h.record.Name == "test" && (h.Runs(false) || !h.Runs(true)) {
			t.Error("a test runs without being asked for, or not at all")
		}
	}
	hooks := r.HooksAt(PreInstall)
	if !hooks[0].Has(BeforeHookCreation) || hooks[1].Has(BeforeHookCreation) || !hooks[1].Has(HookSucceeded) {
		t.Errorf("policies: %v, %v", hooks[0].record.DeletePolicies, hooks[1].record.DeletePolicies)
	}
}

func TestRenderProblems(t *testing.T) {
	const amf = "templates/amf.yaml"
	tests := map[string]struct {
		files  fstest.MapFS
		values map[string]any
		want   string
	}{
		"template fails": {
			files: with(amf, "a: 1\nb: {{ .Values.amf.image.tag }}\n"),
			want:  "Files/core/templates/amf.yaml:2:13: the template fails at <.Values.amf.image.tag>: can't evaluate field tag in type interface {}",
		},
		"included template fails": {
			files: with(amf, "a: 1\nb: {{ include \"outer\" . }}\n{{ define \"inner\" }}{{ b64dec (buildCustomCert \"-\" \"-\").Cert }}{{ end }}\n{{ define \"outer\" }}{{ include \"inner\" . }}{{ end }}\n"),
			want:  "Files/core/templates/amf.yaml:2:6: the template fails at <buildCustomCert \"-\" \"-\"> of core/templates/amf.yaml:3:31: error calling buildCustomCert: unable to decode base64 certificate",
		},
		"required value": {
			files: with(amf, "a: {{ required \"amf.plmn is needed\" .Values.amf.plmn }}\n"),
			want:  "Files/core/templates/amf.yaml:1:6: the template fails: amf.plmn is needed",
		},
		"bad template": {
			files: with(amf, "a: 1\nb: {{ if }}\n"),
			want:  "Files/core/templates/amf.yaml:2: is not a valid template: missing value for if",
		},
		"bad YAML": {
			files: with(amf, "a: [\n"),
			want:  "Files/core/templates/amf.yaml: is not valid YAML once rendered: error converting YAML to JSON: yaml: line 1: did not find expected node content",
		},
		"schema": {
			files: core(), values: map[string]any{"amf": map[string]any{"replicas": "many"}},
			want: "the value amf.replicas of the chart core is rejected by Files/core/values.schema.json: got string, want integer",
		},
		"schema of elsewhere": {
			files: with("values.schema.json", `{"$ref":"https://example.com/s.json"}`),
			want:  `Files/core/values.schema.json: cannot be used as a schema: failing loading "https://example.com/s.json": it refers to https://example.com/s.json; nothing is fetched: write it into the schema`,
		},
		"random": {
			files: with(amf, "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\nstringData: { a: {{ randAlphaNum 8 }} }\n"),
			want:  "Files/core/templates/amf.yaml:4: the template renders differently each time: it uses the function randAlphaNum: plan and apply would differ; set the value in helm_parameters, so that the chart does not generate one",
		},
		"date": {
			files: with(amf, "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: {{ now | date \"2006\" | quote }} }\n"),
			want:  "Files/core/templates/amf.yaml:4: the template renders differently each time: it uses the function now: plan and apply would differ; set the value in helm_parameters, so that the chart does not generate one",
		},
		"password of before": {
			files: with(amf, "{{ $old := lookup \"v1\" \"Secret\" .Release.Namespace \"a\" }}\napiVersion: v1\nkind: Secret\nmetadata: { name: a }\ndata: { a: {{ dig \"data\" \"a\" (randAlphaNum 8) $old | b64enc }} }\n"),
			want:  "Files/core/templates/amf.yaml:5: the template renders differently each time: it uses the function randAlphaNum: plan and apply would differ; set the value in helm_parameters, so that the chart does not generate one; lookup finds nothing, because charts are rendered without access to the cluster",
		},
		"other Kubernetes": {
			files: with("Chart.yaml", "apiVersion: v2\nname: core\nversion: 1.0.0\nkubeVersion: '< 1.20'\n"),
			want:  "Files/core/Chart.yaml: the chart core is for Kubernetes < 1.20, and is rendered for v1.34.0: set the parameter helm_kube_version to render the chart for another version",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, ps := render(t, tt.files, tt.values)
			require.Len(t, ps, 1)
			assert.Equal(t, tt.want, ps[0].String(), "problems")
		})
	}
}

func TestWhatIsMadeUpAndNotUsedIsNoProblem(t *testing.T) {
	rendered(t, with("templates/amf.yaml", "{{- $made := randAlphaNum 8 }}\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: {{ .Values.amf.image | default $made }} }\n"), nil)
	rendered(t, with("templates/hooks.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata: { name: a-{{ randAlphaNum 8 | lower }}, annotations: { helm.sh/hook: pre-install } }\n"), nil)
}

func TestKeysAreInOrder(t *testing.T) {
	files := with("templates/amf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: {{ keys .Values.m | join \",\" }}, b: {{ values .Values.m | join \",\" }} }\n")
	m := map[string]any{}
	for _, key := range strings.Split("a b c d e f g h", " ") {
		m[key] = key
	}
	text := rendered(t, files, map[string]any{"m": m}).manifest()
	assert.Equal(t, 2, strings.Count(text, "a,b,c,d,e,f,g,h"), "%s", text)
}

func TestCapabilities(t *testing.T) {
	files := with("templates/amf.yaml", `apiVersion: v1
kind: ConfigMap
metadata: { name: a }
data:
  version: {{ .Capabilities.KubeVersion.Version }}
  has: '{{ range list "apps/v1" "policy/v1/PodDisruptionBudget" "batch/v1beta1" "monitoring.coreos.com/v1" }}{{ $.Capabilities.APIVersions.Has . }} {{ end }}'
`)
	c, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	for _, tt := range []struct {
		options Options
		want    []string
	}{
		{Options{Release: "a"}, []string{"version: v1.34.0", "true true false false"}},
		{Options{Release: "a", KubeVersion: "1.31.2", APIVersions: []string{"monitoring.coreos.com/v1"}}, []string{"version: v1.31.2", "true true false true"}},
	} {
		r, ps := c.Render(t.Context(), tt.options)
		require.Empty(t, ps)
		for _, want := range tt.want {
			assert.Contains(t, r.manifest(), want)
		}
	}
}

func TestChartMayDemandAVersion(t *testing.T) {
	c, err := Load(t.Context(), with("Chart.yaml", "apiVersion: v2\nname: core\nversion: 1.0.0\nkubeVersion: '>= 1.30.2 < 1.36'\n"), "Files/core")
	require.NoError(t, err)
	r, ps := c.Render(t.Context(), Options{Release: "a"})
	require.Empty(t, ps)
	const refused = `Files/core/Chart.yaml: the chart core is for Kubernetes >= 1.30.2 < 1.36, and VIM "edge" has %s: upgrade the cluster, or use a package whose chart supports it`
	for version, fits := range map[string]bool{
		"v1.30.2": true, "v1.33.4-gke.1245000": true, "v1.30.2+k3s1": true, "v1.35.0-eks-1": true, "v1.30.1": false, "v1.36.3": false, "unheard of": false,
	} {
		p := r.CheckServer("edge", version)
		if fits != (p == nil) || (p != nil && p.String() != fmt.Sprintf(refused, version)) {
			t.Errorf("%s: %v", version, p)
		}
	}
}

// TestPartsOfCharts takes sub-charts in and out as `helm install` does: by tags, which
// conditions overrule, by values of theirs that the parent imports, and by aliases.
func TestPartsOfCharts(t *testing.T) {
	config := func(more string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: '{{ .Chart.Name }}' }\ndata: {" + more + "}\n")}
	}
	files := fstest.MapFS{
		"c/Chart.yaml": {Data: []byte(`apiVersion: v2
name: core
version: 1.0.0
dependencies:
  - { name: amf, version: 1.0.0, tags: [control], import-values: [ports] }
  - { name: smf, version: 1.0.0, tags: [control], condition: smf.enabled }
  - { name: upf, version: ">= 1.0.0", alias: edge, tags: [user] }
  - { name: upf, version: ">= 1.0.0", alias: central, tags: [user] }
`)},
		"c/values.yaml":      {Data: []byte("tags: { control: true, user: false }\nglobal: { plmn: '00101' }\n")},
		"c/templates/a.yaml": config(" port: '{{ .Values.sbi }}' "),
	}
	for _, name := range []string{"amf", "smf", "upf"} {
		files["c/charts/"+name+"/Chart.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v2\nname: " + name + "\nversion: 1.2.0\n")}
		files["c/charts/"+name+"/values.yaml"] = &fstest.MapFile{Data: []byte("exports: { ports: { sbi: 7777 } }\n")}
		files["c/charts/"+name+"/templates/a.yaml"] = config(" plmn: '{{ .Values.global.plmn }}' ")
		files["c/charts/"+name+"/crds/a.yaml"] = &fstest.MapFile{Data: []byte("# of " + name + "\n")}
	}
	c, err := Load(t.Context(), files, "c")
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		values map[string]any
		want   []string
	}{
		"as they are":          {want: []string{"amf", "core", "smf"}},
		"another tag":          {values: map[string]any{"tags": map[string]any{"user": true}}, want: []string{"amf", "central", "core", "edge", "smf"}},
		"no tag":               {values: map[string]any{"tags": map[string]any{"control": false}}, want: []string{"core"}},
		"condition goes first": {values: map[string]any{"tags": map[string]any{"control": false}, "smf": map[string]any{"enabled": true}}, want: []string{"core", "smf"}},
	} {
		r, ps := c.Render(t.Context(), Options{Release: "a", Namespace: "ran", Values: tt.values})
		require.Empty(t, ps, "%s", name)
		var got []string
		for _, m := range regexp.MustCompile(`name: '(\w+)'`).FindAllStringSubmatch(r.manifest(), -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		assert.Equal(t, tt.want, got, "%s: charts", name)
		if text := r.manifest(); slices.Contains(tt.want, "amf") && (!strings.Contains(text, "port: '7777'") || !strings.Contains(text, "plmn: '00101'")) {
			t.Errorf("%s: values did not reach the parent, or a sub-chart:\n%s", name, text)
		}
		assert.Len(t, r.CRDs, len(tt.want)-1, "%s: definitions", name)
	}
}

func TestLoadProblems(t *testing.T) {
	tests := map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"no dependency": {with("Chart.yaml", "apiVersion: v2\nname: core\nversion: 1.0.0\ndependencies: [ { name: amf, version: 1.0.0 } ]\n"),
			"the chart core depends on amf, which is not in charts/; run helm dependency update before you build the package"},
		"library": {with("Chart.yaml", "apiVersion: v2\nname: core\nversion: 1.0.0\ntype: library\n"), "the chart core is a library chart, which has no objects"},
		"a tab":   {with("values.yaml", "\tamf: 1\n"), "values.yaml:1: the file is not valid YAML: found character that cannot start any token"},
		"a tab of a sub-chart, in its second document": {with("charts/db/values.yaml", "a: 1\n---\nb:\n  c: d\n\te: f\n"),
			"charts/db/values.yaml:5: the file is not valid YAML: found a tab character that violates indentation"},
		"no version": {with("Chart.yaml", "apiVersion: v2\nname: core\n"), "validation: chart.metadata.version is required"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load(t.Context(), tt.files, "Files/core")
			require.EqualError(t, err, tt.want, "error")
		})
	}
	if _, err := Load(t.Context(), fstest.MapFS{"a.tgz": {Data: []byte("text")}}, "a.tgz"); err == nil || !strings.HasPrefix(err.Error(), "is not an archive of a chart") {
		t.Errorf("text as an archive: %v", err)
	}
}
