package configuration

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPart(t *testing.T) {
	shown, secret, names := Part(map[string]any{
		"db": map[string]any{"host": "db", "password": "hunter2", "empty": map[string]any{}}, "users": []any{map[string]any{"name": "a", "token": "t"}},
		"existingSecret": "mine", "url": "https://u:p@example.com/", "n": 1, "pin": map[string]any{"token": 7}, "list": []any{"a"}, "proxy": "http://u:p#%s@proxy:port",
	})
	require.Equal(t, map[string]any{"db": map[string]any{"host": "db", "empty": map[string]any{}}, "existingSecret": "mine", "n": 1, "list": []any{"a"}}, shown, "shown")
	want := map[string]any{"db": map[string]any{"password": "hunter2"}, "users": []any{map[string]any{"name": "a", "token": "t"}}, "url": "https://u:p@example.com/", "pin": map[string]any{"token": 7}, "proxy": "http://u:p#%s@proxy:port"}
	require.Equal(t, want, secret, "secret")
	require.Equal(t, []string{"db.password", "pin.token", "proxy", "url", "users[0].token"}, names, "names")
}

func TestHide(t *testing.T) {
	got := Hide(map[string]any{"a": map[string]any{"password": "x", "user": "y"}, "l": []any{map[string]any{"token": "z"}, "plain"}}, func(path string) any { return "<" + path + ">" })
	require.Equal(t, map[string]any{"a": map[string]any{"password": "<a.password>", "user": "y"}, "l": []any{map[string]any{"token": "<l[0].token>"}, "plain"}}, got, "hidden")
}

// TestText writes what could be taken for something else.
func TestText(t *testing.T) {
	f := New()
	f.Comment("one\ntwo")
	f.Block("resource", []string{"a", "b"}, Fields{
		{"text", "${var.x} %{ if } \"quoted\"\n"}, {"none", ""}, {"reference", Expression("var.x")}, {"null", nil},
		{"object", Fields{{"b.c", []any{1, true, map[string]any{"e": nil}}}, {"a", map[string]any{}}, {"kept", Expression("{}")}, {"for", json.Number("12345678901234567890")}}},
	})
	want := `# one
# two
resource "a" "b" {
  text      = "$${var.x} %%{ if } \"quoted\"\n"
  reference = var.x
  object = {
    "b.c" = [1, true, {
      e = null
    }]
    kept  = {}
    "for" = 12345678901234567890
  }
}
`
	require.Equal(t, want, string(f.Bytes()), "configuration")
	for text, want := range map[string]string{"a.b": "a_b", "1st": "_1st", "": "_"} {
		require.Equal(t, want, Name(text), "the name of %q", text)
	}
	require.Equal(t, `"a$${b}\u0007"`, Quote("a${b}\a"), "quoted")
}
