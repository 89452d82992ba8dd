package helm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// secretSchema declares secrets in all ways.
const secretSchema = `{"type": "object", "additionalProperties": true, "properties": {
  "amf": {"type": "object", "properties": {"replicas": {"type": "integer"}, "image": {"type": "string"},
    "pin": {"type": "integer", "writeOnly": true}, "key": {"type": "string", "format": "password", "minLength": 9},
    "mode": {"enum": ["a", "b"]}, "code": {"type": "string", "pattern": "^[a-z]+$"}}, "additionalProperties": false},
  "users": {"type": "array", "items": {"$ref": "#/$defs/user"}},
  "loop": {"properties": {"next": {"$ref": "#/properties/loop"}}}},
  "$defs": {"user": {"allOf": [{"properties": {"login": {"writeOnly": true}}}]}}}`

// TestSecretValues keeps the values of secrets out of what a schema says of them, and blames
// the argument that gives them.
func TestSecretValues(t *testing.T) {
	values := func(text map[string]any) map[string]any { return map[string]any{"amf": text} }
	tests := map[string]struct {
		values  map[string]any
		secrets string
		want    []string
	}{
		"pattern": {values(map[string]any{"code": "Hunter2"}), "amf.code", []string{"secret: the value amf.code of the chart core is rejected by Files/core/values.schema.json: it does not meet pattern"}},
		"length":  {values(map[string]any{"key": "hunter2"}), "amf.key", []string{"secret: the value amf.key of the chart core is rejected by Files/core/values.schema.json: it does not meet minLength"}},
		"all at once": {values(map[string]any{"mode": "hunter2", "pin": "1234", "code": "1"}), "amf.mode amf.pin", []string{
			"plain: the value amf.code of the chart core is rejected by Files/core/values.schema.json: '1' does not match pattern '^[a-z]+$'",
			"secret: the value amf.mode of the chart core is rejected by Files/core/values.schema.json: it does not meet enum",
			"secret: the value amf.pin of the chart core is rejected by Files/core/values.schema.json: it does not meet type",
		}},
		"unknown": {values(map[string]any{"passwort": "hunter2"}), "amf.passwort", []string{"secret: the value amf of the chart core is rejected by Files/core/values.schema.json: additional properties 'passwort' not allowed"}},
		"inside":  {values(map[string]any{"code": map[string]any{"a": "hunter2"}}), "amf.code.a", []string{"plain: the value amf.code of the chart core is rejected by Files/core/values.schema.json: got object, want string"}},
		"plain":   {values(map[string]any{"code": "Hunter2"}), "amf.key", []string{"plain: the value amf.code of the chart core is rejected by Files/core/values.schema.json: 'Hunter2' does not match pattern '^[a-z]+$'"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Load(t.Context(), with("values.schema.json", secretSchema), "Files/core")
			require.NoError(t, err)
			var ways [][]string
			for _, way := range strings.Fields(tt.secrets) {
				ways = append(ways, strings.Split(way, "."))
			}
			_, ps := c.Render(t.Context(), Options{Release: "site", Namespace: "ran", Values: tt.values, Secrets: ways, Attribute: "plain", SecretAttribute: "secret", Key: "k"})
			assert.Empty(t, cmp.Diff(tt.want, blamed(ps), cmp.Transformer("sorted", sorted)))
		})
	}
}

func blamed(ps vnfm.Problems) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Attribute+": "+p.Summary)
	}
	return out
}

func sorted(list []string) map[string]bool {
	out := map[string]bool{}
	for _, item := range list {
		out[item] = true
	}
	return out
}

// TestShownSecrets finds the values that a schema declares to be secret, and that were given
// in clear.
func TestShownSecrets(t *testing.T) {
	files := with("values.schema.json", secretSchema)
	files["Files/core/charts/db/values.schema.json"] = with("x", `{"properties": {"admin": {"format": "password"}}}`)["Files/core/x"]
	c, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	r, ps := c.Render(t.Context(), Options{
		Release: "site", Namespace: "ran",
		Values: map[string]any{
			"amf": map[string]any{"pin": 1234, "key": "long enough", "image": "amf:2"}, "db": map[string]any{"admin": "x", "size": 2},
			"users": []any{map[string]any{"login": "a"}, map[string]any{"login": "b", "name": "c"}, map[string]any{"login": ""}}, "loop": map[string]any{"next": map[string]any{"next": map[string]any{}}},
		},
		Secrets: [][]string{{"amf", "key"}, {"users", "0"}},
	})
	require.Empty(t, ps)
	assert.Equal(t, []string{"amf.pin", "db.admin", "users.1.login"}, r.ShownSecrets())
	assert.Empty(t, rendered(t, core(), map[string]any{"amf": map[string]any{"replicas": 2}}).ShownSecrets(), "without a secret")
}
