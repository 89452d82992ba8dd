package helm

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecordedChart makes the chart again of a record, which knows no sub-charts, and says which are missing.
func TestRecordedChart(t *testing.T) {
	read := func(files fstest.MapFS, values map[string]any) *Release {
		text, err := rendered(t, files, values).Release(1, time.Time{}, Deployed, "").Encode()
		require.NoError(t, err)
		out, err := Decode(text)
		require.NoError(t, err)
		return out
	}
	assert.Equal(t, []string{"db"}, read(core(), nil).MissingCharts(), "sub-charts")
	files := with("Chart.yaml", "apiVersion: v2\nname: core\nversion: 1.2.3\nappVersion: 5.0.0\n")
	for name := range files {
		if strings.HasPrefix(name, "Files/core/charts/") {
			delete(files, name)
		}
	}
	values := map[string]any{"amf": map[string]any{"replicas": int64(2), "image": "amf:2"}}
	before := read(files, values)
	assert.Empty(t, before.MissingCharts(), "a chart without sub-charts lacks")
	recorded, err := before.ChartFiles()
	require.NoError(t, err)
	again := fstest.MapFS{}
	for name, data := range recorded {
		again["Files/core/"+name] = &fstest.MapFile{Data: data}
	}
	after := read(again, before.Values())
	assert.Equal(t, before.Manifest(), after.Manifest(), "manifest (-recorded +made again)")
	assert.Empty(t, after.Differing(before), "the chart that was made again differs in")
	name, version, read2, err := ReadChart(t.Context(), again, "Files/core")
	if err != nil || name != "core" || version != "1.2.3" || len(read2) != len(recorded) {
		t.Errorf("the chart reads as %s %s with %d of %d files, %v", name, version, len(read2), len(recorded), err)
	}
	_, _, _, err = ReadChart(t.Context(), again, "Files")
	require.Error(t, err, "a directory without Chart.yaml is a chart")
	for _, broken := range []string{"../outside", "/etc/passwd"} {
		evil := read(files, nil)
		evil.record.Chart.Files[0].Name = broken
		if _, err := evil.ChartFiles(); err == nil {
			t.Errorf("a record may name the file %q", broken)
		}
	}
}

func TestParameterNames(t *testing.T) {
	values := map[string]any{"a": 1, "nginx.org/x": map[string]any{"b.c": "d"}, `e[0]`: true}
	read, err := Values(ParameterNames(values))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": 1.0, "nginx.org/x": map[string]any{"b.c": "d"}, `e[0]`: true}, read, "values")
}
