package helm

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestLargeNumbers warns of numbers that a template writes with an exponent, and of no others. Secrets are not shown.
func TestLargeNumbers(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: core\nversion: 1.0.0\n",
		"values.yaml": "own: 1000000\nuser: 1000650000\n",
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: {{ .Values.imsi | quote }}\n  b: {{ index .Values.list 1 | quote }}\n" +
			"  c: {{ .Values.own | quote }}\n  d: {{ .Values.user | int64 | quote }}\n  e: {{ toYaml .Values.msisdn | quote }}\n  f: {{ .Values.text | quote }}\n  g: {{ .Values.pin | quote }}\n",
	} {
		files["Files/core/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	values, err := Values(map[string]any{"imsi": 208930000000001, "list": []any{1, 2_000_000}, "msisdn": 33612345678, "text": "208930000000001", "pin": 47_110_000})
	require.NoError(t, err)
	_, ps := c.Render(t.Context(), Options{
		Release: "r", Namespace: "n", Values: values, Secrets: [][]string{{"pin"}},
		Attribute: "additional_params", SecretAttribute: "additional_params_wo", Key: "helm_parameters",
	})
	var got []string
	for _, p := range ps {
		got = append(got, p.Attribute+" "+p.String())
	}
	require.False(t, ps.HasErrors())
	require.Equal(t, []string{
		`additional_params the number imsi is written with an exponent in Files/core/templates/a.yaml: the template makes 2.08930000000001e+14 of it; write "208930000000001"`,
		`additional_params the number list.1 is written with an exponent in Files/core/templates/a.yaml: the template makes 2e+06 of it; write "2000000"`,
		`additional_params_wo the number pin is written with an exponent in Files/core/templates/a.yaml: put it in quotes, which keeps its digits`,
		` Files/core/values.yaml: the number own is written with an exponent in Files/core/templates/a.yaml: the template makes 1e+06 of it; write "1000000"`,
	}, got)
}

// TestTextsForBooleans warns of texts that a template takes for true, where the chart has a boolean.
func TestTextsForBooleans(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"Chart.yaml":       "apiVersion: v2\nname: core\nversion: 1.0.0\n",
		"values.yaml":      "sidecar: true\ndb: {enabled: true, mode: text, free: null}\n",
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	} {
		files["Files/core/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	values, err := Values(map[string]any{"sidecar": "true", "db.enabled": "false", "db.mode": "false", "db.free": "false", "other": "true"})
	require.NoError(t, err)
	_, ps := c.Render(t.Context(), Options{Release: "r", Namespace: "n", Values: values, Attribute: "additional_params", Key: "helm_parameters"})
	var got []string
	for _, p := range ps {
		got = append(got, p.String())
	}
	require.False(t, ps.HasErrors())
	require.Equal(t, []string{
		`the value db.enabled is the text "false", and a boolean in the chart: a template takes each text that is not empty for true; ` +
			`write false without quotes, and not in a map of strings, of whose booleans Terraform makes texts`,
	}, got)
}

// TestChartWithoutAPIVersion takes a chart that Chart.yaml gives no apiVersion for one of Helm's first charts, as helm install does.
func TestChartWithoutAPIVersion(t *testing.T) {
	files := core()
	files["Files/core/charts/db/Chart.yaml"] = &fstest.MapFile{Data: []byte("name: db\nversion: 1.0.0\n")}
	rendered(t, files, nil)
}
