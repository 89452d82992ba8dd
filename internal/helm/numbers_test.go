package helm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// typesChart prints values of all types in the ways in which charts look at them.
const typesChart = `{{- range $name := keys .Values | sortAlpha }}{{ $v := index $.Values $name }}
{{- if ne $name "global" }}
{{ $name }}: {{ printf "%T %v" $v $v | quote }}
{{ $name }}-text: {{ $v | quote }}
{{ $name }}-json: {{ toJson $v | quote }}
{{ $name }}-yaml: {{ toYaml $v | quote }}
{{ $name }}-kind: {{ kindOf $v }}
{{- if kindIs "float64" $v }}
{{ $name }}-below: {{ lt $v 10.0 }}
{{ $name }}-sum: {{ addf $v 0.5 | quote }}
{{- end }}
{{- if or (kindIs "float64" $v) (kindIs "int64" $v) }}
{{ $name }}-int: {{ int $v }}
{{- end }}
{{- end }}
{{- end }}
`

const typesValues = `whole: 3
zero: 0
negative: -7
million: 1000000
large: 1000650000
largest: 9007199254740993
huge: 123456789012345678901234567890
half: 0.5
point: 3.0
exponent: 1.5e3
hex: 0x1F
octal: 0o17
text: "3"
true: true
words: [yes, on, "off", ~]
nothing: ~
empty: ""
date: 2026-11-26
map: {a: 1, b: {c: 2.5, d: [1, 2, {e: 3}]}}
list: [1, 2.5, "3", true, null, {a: 1}]
`

// TestNumbersAreThoseOfHelm: values reach templates as Helm's own command gives them from a file. Templates of charts compare numbers with
// 0.0, which an integer is no match for.
func TestNumbersAreThoseOfHelm(t *testing.T) {
	binary := filepath.Join(labtest.Root(t), "bin", "helm")
	if _, err := os.Stat(binary); err != nil {
		labtest.Missing(t, "helm: run make bin/helm")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	write("types/Chart.yaml", "apiVersion: v2\nname: types\nversion: 1.0.0\n")
	write("types/values.yaml", "own: 4\nownLarge: 1000000\n")
	write("types/templates/all.yaml", typesChart)
	file := write("values.yaml", typesValues)

	cmd := exec.CommandContext(t.Context(), binary, "template", "site", filepath.Join(dir, "types"), "--values", file, "--set", "set=3,setLarge=1000000")
	cmd.Env = []string{"HOME=" + dir}
	out, err := cmd.Output()
	require.NoError(t, err)

	read, err := ReadValues(typesValues)
	require.NoError(t, err)
	c, err := Load(t.Context(), os.DirFS(dir), "types")
	require.NoError(t, err)
	// A path of one step, which Values would take for a key.
	values := FileValues(read)
	require.NoError(t, Set(values, "set", 3))
	require.NoError(t, Set(values, "setLarge", 1000000))
	made, ps := c.Render(t.Context(), Options{Release: "site", Namespace: "default", Values: values})
	var warned []string
	for _, p := range ps {
		warned = append(warned, p.File+strings.Fields(p.Summary)[2])
	}
	require.False(t, ps.HasErrors())
	require.Equal(t, []string{"huge", "large", "largest", "million", "types/values.yamlownLarge"}, warned, "numbers with an exponent")
	require.Len(t, made.Manifests, 1)
	_, want, found := strings.Cut(string(out), "# Source: types/templates/all.yaml\n")
	require.True(t, found)
	require.Equal(t, strings.TrimSpace(want), strings.TrimSpace(made.Manifests[0].Text))
}

// TestNumbersOfParameters: nested values are those of a file, paths those of --set.
func TestNumbersOfParameters(t *testing.T) {
	values, err := Values(map[string]any{"a": map[string]any{"n": 2}, "b.n": 2})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": map[string]any{"n": float64(2)}, "b": map[string]any{"n": int64(2)}}, values)
	text, err := sent(values)
	require.NoError(t, err)
	back, err := received(text)
	require.NoError(t, err)
	require.Equal(t, values, back)
}
