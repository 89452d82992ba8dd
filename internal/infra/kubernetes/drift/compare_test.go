package drift

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDifferences(t *testing.T) {
	spec := func(v any) map[string]any { return map[string]any{"spec": v} }
	m := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1] //nolint:forcetypeassert // written below
		}
		return out
	}
	tests := map[string]struct {
		want, live map[string]any
		diff       []string
	}{
		"same":                      {spec(m("a", int64(1))), spec(m("a", int64(1), "defaulted", "x")), nil},
		"number":                    {spec(m("a", int64(1))), spec(m("a", int64(2))), []string{"spec.a"}},
		"integer and float":         {spec(m("a", int64(1))), spec(m("a", 1.0)), nil},
		"number as text":            {spec(m("port", int64(80))), spec(m("port", "80")), nil},
		"text is no number in data": {m("data", m("a", "1")), m("data", m("a", "1.0")), []string{"data.a"}},
		"quantity":                  {spec(m("limits", m("cpu", "1000m"))), spec(m("limits", m("cpu", "1"))), nil},
		"quantity as number":        {spec(m("limits", m("cpu", int64(1)))), spec(m("limits", m("cpu", "1"))), nil},
		"another quantity":          {spec(m("limits", m("cpu", "1"))), spec(m("limits", m("cpu", "2"))), []string{"spec.limits.cpu"}},
		"no quantity elsewhere":     {spec(m("value", "1000m")), spec(m("value", "1")), []string{"spec.value"}},
		"no quantity in metadata":   {m("metadata", m("labels", m("limits", "1000m"))), m("metadata", m("labels", m("limits", "1"))), []string{"metadata.labels.limits"}},
		"zero values are absent":    {spec(m("a", int64(0), "b", "", "c", false, "d", m(), "e", []any{}, "f", nil)), spec(m()), nil},
		"value is absent":           {spec(m("a", int64(1))), spec(m()), []string{"spec.a"}},
		"map is absent":             {spec(m("a", m("b", int64(1), "c", int64(2)))), spec(m()), []string{"spec.a"}},
		"map of zeros is absent":    {spec(m("a", m("b", false))), spec(m()), nil},
		"emptyDir is absent":        {spec(m("emptyDir", m())), spec(m("hostPath", m("path", "/"))), []string{"spec.emptyDir"}},
		"another type":              {spec(m("a", m("b", "c"))), spec(m("a", "b")), []string{"spec.a"}},
		"list for text":             {spec(m("a", []any{"b"})), spec(m("a", "b")), []string{"spec.a"}},
		"list order":                {spec(m("a", []any{"b", "c"})), spec(m("a", []any{"c", "b"})), []string{"spec.a[0]", "spec.a[1]"}},
		"list length":               {spec(m("a", []any{"b"})), spec(m("a", []any{"b", "c"})), []string{"spec.a"}},
		"named elements": {spec(m("a", []any{m("name", "x", "v", "1"), m("name", "y", "v", "2")})), spec(m("a", []any{m("name", "y", "v", "2"), m("name", "x", "v", "3", "more", "")})),
			[]string{"spec.a[name=x].v"}},
		"selector has more":        {spec(m("selector", m("a", "b"))), spec(m("selector", m("a", "b", "c", "d"))), []string{"spec.selector.c"}},
		"pod selector has more":    {spec(m("podSelector", m("matchLabels", m("a", "b")))), spec(m("podSelector", m("matchLabels", m("a", "b", "c", "d")))), []string{"spec.podSelector.matchLabels.c"}},
		"binary data by line":      {m("binaryData", m("a", "YWJj\n")), m("binaryData", m("a", "YWJj")), nil},
		"other binary data":        {m("binaryData", m("a", "YWJj")), m("binaryData", m("a", "YWJk")), []string{"binaryData.a"}},
		"line break in plain data": {m("data", m("a", "YWJj\n")), m("data", m("a", "YWJj")), []string{"data.a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var candidates []Unowned
			for _, field := range slices.Sorted(maps.Keys(tt.want)) {
				candidates = append(candidates, Unowned{Path: FieldPath{{field: field}}, Value: tt.want[field]})
			}
			assert.Equal(t, tt.diff, Differences(candidates, tt.live), "differing fields")
		})
	}
}

func TestLocate(t *testing.T) {
	live := map[string]any{"ports": []any{
		map[string]any{"port": int64(53), "protocol": "UDP", "name": "dns"},
		map[string]any{"port": int64(53), "protocol": "TCP", "name": "dns-tcp"},
	}, "set": []any{"a"}}
	key := step{kind: stepKey, key: map[string]any{"port": int64(53), "protocol": "TCP"}}
	if v, ok := locate(live, FieldPath{{field: "ports"}, key, {field: "name"}}); !ok || v != "dns-tcp" {
		t.Errorf("found %v, %t", v, ok)
	}
	for _, path := range []FieldPath{
		{{field: "none"}},
		{{field: "ports"}, {field: "name"}},
		{{field: "ports"}, {kind: stepKey, key: map[string]any{"port": int64(80)}}},
		{{field: "ports"}, {kind: stepIndex, index: 2}},
		{{field: "set"}, {kind: stepValue, value: "b"}},
		{{field: "set"}, key},
		{key},
	} {
		v, ok := locate(live, path)
		assert.False(t, ok, "%s: found %v", path, v)
	}
}

func TestDescribe(t *testing.T) {
	got, want := Describe([]string{"b", "a", "b"}), "drifted: a, b"
	assert.Equal(t, want, got)
	var many []string
	for i := range 12 {
		many = append(many, "f"+string(rune('a'+i)))
	}
	got, want = Describe(many), "drifted: fa, fb, fc, fd, fe, ff, fg, fh, fi, fj and 2 more"
	assert.Equal(t, want, got)
}
