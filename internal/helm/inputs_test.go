package helm

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInputs: a chart knows what its values.yaml has, null too, and what its schema describes.
func TestInputs(t *testing.T) {
	files := fstest.MapFS{
		"c/Chart.yaml":  {Data: []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n")},
		"c/values.yaml": {Data: []byte("a: { none: , zero: 0 }\ngroups: [ { name: x } ]\nsize: 7\n")},
		"c/values.schema.json": {Data: []byte(`{
			"properties": {"b": {"$ref": "#/$defs/b~1c"}, "loop": {"$ref": "#/properties/loop"}, "list": {"items": {"anyOf": [{"properties": {"only": {}}}]}},
			               "open": {"additionalProperties": true}},
			"$defs": {"b/c": {"allOf": [{"properties": {"deep": {"type": "string"}}}]}}}`)},
	}
	c, err := Load(t.Context(), files, "c")
	require.NoError(t, err)
	in, err := c.Inputs()
	require.NoError(t, err)
	for path, want := range map[string]bool{
		"a": true, "a.none": true, "a.zero": true, "a.other": false, "a.zero.below": false,
		"groups.[].name": true, "groups.[].size": false, "groups.name": false,
		"b.deep": true, "b.other": false, "loop": true, "loop.x": false, "list.[].only": true, "list.[].other": false, "open.anything": false,
	} {
		assert.Equal(t, want, in.Takes(path), path)
	}
	assert.InDelta(t, 7, in.Default("size"), 0)
	assert.Nil(t, in.Default("a.none"))
	assert.Nil(t, in.Default("size.below"))
}
