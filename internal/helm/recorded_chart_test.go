package helm

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
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
	if diff := cmp.Diff([]string{"db"}, read(core(), nil).MissingCharts()); diff != "" {
		t.Errorf("sub-charts (-want +got):\n%s", diff)
	}
	files := with("Chart.yaml", "apiVersion: v2\nname: core\nversion: 1.2.3\nappVersion: 5.0.0\n")
	for name := range files {
		if strings.HasPrefix(name, "Files/core/charts/") {
			delete(files, name)
		}
	}
	values := map[string]any{"amf": map[string]any{"replicas": int64(2), "image": "amf:2"}}
	before := read(files, values)
	if got := before.MissingCharts(); len(got) > 0 {
		t.Errorf("a chart without sub-charts lacks %v", got)
	}
	recorded, err := before.ChartFiles()
	require.NoError(t, err)
	again := fstest.MapFS{}
	for name, data := range recorded {
		again["Files/core/"+name] = &fstest.MapFile{Data: data}
	}
	after := read(again, before.Values())
	if diff := cmp.Diff(before.Manifest(), after.Manifest()); diff != "" {
		t.Errorf("manifest (-recorded +made again):\n%s", diff)
	}
	if got := after.Differing(before); len(got) > 0 {
		t.Errorf("the chart that was made again differs in %v", got)
	}
	name, version, read2, err := ReadChart(t.Context(), again, "Files/core")
	if err != nil || name != "core" || version != "1.2.3" || len(read2) != len(recorded) {
		t.Errorf("the chart reads as %s %s with %d of %d files, %v", name, version, len(read2), len(recorded), err)
	}
	if _, _, _, err := ReadChart(t.Context(), again, "Files"); err == nil {
		t.Error("a directory without Chart.yaml is a chart")
	}
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
	if diff := cmp.Diff(map[string]any{"a": 1.0, "nginx.org/x": map[string]any{"b.c": "d"}, `e[0]`: true}, read); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
