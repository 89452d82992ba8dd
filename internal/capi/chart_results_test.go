package capi

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestChartWithRandomFunctions: generated values of a chart are unknown until the apply, and stable afterwards.
func TestChartWithRandomFunctions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chart")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "templates"), 0o700))
	for name, text := range map[string]string{
		"Chart.yaml":            "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
		"templates/cm.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }} }\n",
		"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: {{ .Release.Name }} }\ndata: { token: {{ randAlphaNum 20 | b64enc }} }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	spec := &vnfm.ClusterSpec{Name: "edge", Namespace: "core", APIVersion: "v1beta2", Chart: &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Path: dir}}}
	d := New(nil, nil)
	// made renders like an apply, which adds missing results, and returns the package and the token.
	made := func(results *vnfm.Results, regenerate *vnfm.RegenerateSpec) (*vnfm.Package, string) {
		own := *spec
		own.Results, own.MakeResults, own.Regenerate = results, true, regenerate
		p, problems := d.Package(&own)
		require.Empty(t, problems)
		require.True(t, p.Complete())
		token, err := base64.StdEncoding.DecodeString(at(t, render(t, &own)["Secret edge"], "data", "token").(string)) //nolint:forcetypeassert // a Secret
		require.NoError(t, err)
		return p, string(token)
	}
	_, problems := d.Package(spec)
	require.ErrorContains(t, problems.Err(), "randAlphaNum")

	results := vnfm.NewResults(nil)
	planned := *spec
	planned.Results = results
	p, problems := d.Package(&planned)
	require.Empty(t, problems)
	require.Equal(t, []string{"v1 Secret edge"}, p.Later)
	require.Nil(t, results.Data(), "a plan makes nothing")

	first, token := made(results, nil)
	require.Len(t, token, 20)
	p, problems = d.Package(&planned)
	require.Empty(t, problems)
	require.True(t, p.Complete())
	require.Equal(t, first.ID, p.ID)
	_, other := made(vnfm.NewResults(nil), nil)
	require.NotEqual(t, token, other)
	next, again := made(results, &vnfm.RegenerateSpec{Trigger: "1"})
	require.NotEqual(t, token, again)
	require.NotEqual(t, first.ID, next.ID)
}
