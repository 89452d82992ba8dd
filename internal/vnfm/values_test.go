package vnfm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

// TestMergeDeep merges values down to the elements of lists, and says which ones it has put
// there.
func TestMergeDeep(t *testing.T) {
	tests := []struct {
		name, base, overrides, want string
		// changed are the ways to what is new.
		changed string
	}{
		{"maps", `{"a": {"b": 1, "c": {"d": 2}}}`, `{"a": {"c": {"e": 3}}, "f": 4}`, `{"a": {"b": 1, "c": {"d": 2, "e": 3}}, "f": 4}`, "a.c.e f"},
		{"scalars", `{"a": "x", "b": {"c": 1}}`, `{"a": {"c": 2}, "b": "y"}`, `{"a": {"c": 2}, "b": "y"}`, "a.c b"},
		{"null", `{"a": "x", "b": 1}`, `{"a": null, "c": null}`, `{"a": null, "b": 1, "c": null}`, "a c"},
		{"nothing below", `{}`, `{"a": [null, {"b": 1}]}`, `{"a": [null, {"b": 1}]}`, "a.1.b"},
		{
			"by name", `{"l": [{"name": "a", "url": "u"}, {"name": "b", "url": "v"}]}`, `{"l": [{"name": "b", "password": "p"}, {"name": "c", "password": "q"}]}`,
			`{"l": [{"name": "a", "url": "u"}, {"name": "b", "url": "v", "password": "p"}, {"name": "c", "password": "q"}]}`, "l.1.password l.2.name l.2.password",
		},
		{
			"by name, inside", `{"l": [{"name": "a", "m": [{"name": "x", "v": 1}]}]}`, `{"l": [{"name": "a", "m": [{"name": "x", "w": 2}]}]}`,
			`{"l": [{"name": "a", "m": [{"name": "x", "v": 1, "w": 2}]}]}`, "l.0.m.0.w",
		},
		{
			"by index", `{"l": [{"url": "u"}, {"url": "v"}]}`, `{"l": [null, {"password": "p"}, {"url": "w"}]}`,
			`{"l": [{"url": "u"}, {"url": "v", "password": "p"}, {"url": "w"}]}`, "l.1.password l.2.url",
		},
		{"a name twice", `{"l": [{"name": "a"}, {"name": "a"}]}`, `{"l": [null, {"name": "a", "p": 1}]}`, `{"l": [{"name": "a"}, {"name": "a", "p": 1}]}`, "l.1.p"},
		{"without names above", `{"l": [{"name": "a"}, {"name": "b"}]}`, `{"l": [{"p": 1}]}`, `{"l": [{"name": "a", "p": 1}, {"name": "b"}]}`, "l.0.p"},
		{"texts", `{"l": ["a", "b", "c"]}`, `{"l": [null, "x"]}`, `{"l": ["a", "x", "c"]}`, "l.1"},
		{"lists of lists", `{"l": [["a"], ["b"]]}`, `{"l": [null, [null, "c"]]}`, `{"l": [["a"], ["b", "c"]]}`, "l.1.1"},
		{"another type", `{"l": [1, 2], "m": {"a": 1}}`, `{"l": {"0": 3}, "m": [1]}`, `{"l": {"0": 3}, "m": [1]}`, "l.0 m.0"},
		{"the same", `{"a": "x", "l": [1]}`, `{"a": "x", "l": [1]}`, `{"a": "x", "l": [1]}`, ""},
		{"empty", `{"a": {"b": 1}, "l": [1]}`, `{"a": {}, "l": [], "c": {}, "d": []}`, `{"a": {"b": 1}, "l": [1], "c": {}, "d": []}`, "c d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, overrides := decoded(t, tt.base), decoded(t, tt.overrides)
			got := vnfm.MergeDeep(base, overrides)
			require.Equal(t, decoded(t, tt.want), got)
			var ways []string
			for _, way := range vnfm.Changed(base, got) {
				ways = append(ways, strings.Join(way, "."))
			}
			require.Equal(t, tt.changed, strings.Join(ways, " "), "changed")
			require.Equal(t, []any{decoded(t, tt.base), decoded(t, tt.overrides)}, []any{base, overrides}, "the arguments were changed")
		})
	}
}

// TestMergeValues replaces lists as a whole, as Helm does.
func TestMergeValues(t *testing.T) {
	got := vnfm.MergeValues(decoded(t, `{"a": {"b": 1}, "l": [1, 2]}`), decoded(t, `{"a": {"c": 2}, "l": [3]}`))
	require.Equal(t, decoded(t, `{"a": {"b": 1, "c": 2}, "l": [3]}`), got)
}
