package helm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValues(t *testing.T) {
	got, err := Values(map[string]any{
		"amf":                 map[string]any{"replicas": float64(2), "annotations": map[string]any{"a.b/c": "d"}},
		"amf.image.tag":       "1.2,3",
		"smf.ports[1]":        8080.0,
		"smf.ports[0]":        1.5,
		`smf.labels.x\.y/z`:   true,
		"upf.args":            []any{float64(1), "two"},
		"amf.annotations.new": "e",
	})
	require.NoError(t, err)
	want := map[string]any{
		"amf": map[string]any{
			"replicas": float64(2), "annotations": map[string]any{"a.b/c": "d", "new": "e"}, "image": map[string]any{"tag": "1.2,3"},
		},
		"smf": map[string]any{"ports": []any{1.5, int64(8080)}, "labels": map[string]any{"x.y/z": true}},
		"upf": map[string]any{"args": []any{int64(1), "two"}},
	}
	assert.Equal(t, want, got, "values")
	for _, path := range []string{"a=b.c", "a,b.c", "a.b[x]", "a..b", "a[", "a.", ".a"} {
		if got, err := Values(map[string]any{path: "x", "a": map[string]any{"b": 1}}); err == nil {
			t.Errorf("the path %q is taken: %v", path, got)
		}
	}
	_, err = Values(map[string]any{"a": "text", "a.b": "x"})
	require.Error(t, err, "a path below a text is taken")
}

func TestReleaseName(t *testing.T) {
	for instance, want := range map[string]string{
		"core5g":  "core5g",
		"Core 5G": "core-5g-c360e22a",
		"":        "vnf-e3b0c442",
		"核心":      "vnf-",
		"a.very.long.name.of.an.instance.that.helm.would.not.take": "a-very-long-name-of-an-instance-that-helm-wo-",
	} {
		got := ReleaseName(instance)
		if !ValidReleaseName(got) || len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("the release of %q is named %q, want %q", instance, got, want)
		}
	}
	// Helm takes dots; not all names of objects that charts make of it do.
	if got := ReleaseName("a.b"); strings.Contains(got, ".") || !ValidReleaseName("a.b") || ValidReleaseName("a..b") || ValidReleaseName("a.") {
		t.Errorf("names with dots: %q", got)
	}
	assert.NotEqual(t, ReleaseName("a_b"), ReleaseName("a b"), "two instances share a release")
}
