package helm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFill(t *testing.T) {
	values := map[string]any{"name": "edge", "nodes": []any{"a", "b"}}
	got, err := Fill(t.Context(), `{{ .name | upper }}-{{ index .nodes 1 }}{{ if .none }}!{{ end }}`, values)
	require.NoError(t, err)
	assert.Equal(t, "EDGE-b", got)
	for text, want := range map[string]string{"{{ .name": "reading the template", "{{ now }}": `function "now" not defined`, "{{ index .nodes 7 }}": "filling the template"} {
		_, err := Fill(t.Context(), text, values)
		require.ErrorContains(t, err, want)
	}
}
