package render

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// secretChart has a password in a Secret, its hash in one ConfigMap and a list of users in another.
func secretChart(plain, secrets map[string]any) *vnfm.Target {
	t := targettest.Chart(map[string]string{
		"values.schema.json": `{"properties": {"auth": {"properties": {"password": {"type": "string", "pattern": "^[a-z-]*$"}, "pin": {"writeOnly": true}}, "additionalProperties": false}}}`,
		"templates/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { password: {{ .Values.auth.password | default \"none\" | quote }} }\n---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\ndata: { sum: {{ .Values.auth.password | default \"none\" | sha256sum | quote }} }\n---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: { name: users }\ndata: { users: {{ .Values.users | toJson | quote }} }\n",
	}, nil)
	t.Instance.AdditionalParams, t.SecretParams, t.DigestKey = plain, secrets, []byte("key")
	return t
}

func values(entries ...any) map[string]any {
	inside := map[string]any{}
	for n := 0; n < len(entries); n += 2 {
		inside[fmt.Sprint(entries[n])] = entries[n+1]
	}
	return map[string]any{"helm_parameters": inside}
}

// TestSecretParamProblems: problems of secret parameters name the argument and show no value.
func TestSecretParamProblems(t *testing.T) {
	tests := map[string]struct {
		target *vnfm.Target
		want   []string
	}{
		"schema": {secretChart(values("auth.password", "plain"), values("auth.password", "HUNTER2")),
			[]string{"additional_params_wo[helm_parameters]: the value auth.password of the chart core is rejected by Files/core/values.schema.json: it does not meet pattern"}},
		"unknown value": {secretChart(nil, values("auth.passwort", "hunter2")),
			[]string{"additional_params_wo[helm_parameters]: the value auth of the chart core is rejected by Files/core/values.schema.json: additional properties 'passwort' not allowed"}},
		"path": {secretChart(values("a", 1), values("a..b", "hunter2")),
			[]string{`additional_params_wo[helm_parameters]: additional parameter "helm_parameters" has a key that cannot be used: "a..b" is not a path of values such as a.b[0].c`}},
		"no map": {secretChart(values("a", 1), map[string]any{"helm_parameters": "hunter2"}),
			[]string{`additional_params_wo[helm_parameters]: additional parameter "helm_parameters" must map values of the chart, or their paths, to the wanted values: it is a string: write a map; a variable for it needs a type, such as any or map(any)`}},
		"all at once": {secretChart(nil, map[string]any{"namespace": "hunter2", "helm_chart_path": "hunter2", "nfv": "hunter2"}), []string{
			`additional_params_wo[helm_chart_path]: additional parameter "helm_chart_path" cannot be secret: the plan shows its effects; of the parameters of the Kubernetes driver additional_params_wo accepts helm_parameters`,
			`additional_params_wo[namespace]: additional parameter "namespace" cannot be secret: the plan shows its effects; of the parameters of the Kubernetes driver additional_params_wo accepts helm_parameters`,
		}},
	}
	manifests := targettest.Manifests(map[string]string{"a.yaml": deploymentAMF}, map[string]int{"amf": 1})
	manifests.SecretParams = values("a", "hunter2")
	tests["no chart"] = struct {
		target *vnfm.Target
		want   []string
	}{manifests, []string{`additional_params_wo[helm_parameters]: additional parameter "helm_parameters" is for a chart, but the VNFD names none: helm_chart_path says which one it is; the package has no chart`}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, ps := new(Renderings).Preview(t.Context(), tt.target)
			var got []string
			for _, p := range ps {
				got = append(got, fmt.Sprintf("%s[%s]: %s", p.Attribute, p.Key, p))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// TestSecretValues merges secret values, with or without paths as keys, into plain ones. Digests of objects that depend on secrets
// are keyed, so guesses cannot be tested against them.
func TestSecretValues(t *testing.T) {
	plain := values("users", []any{map[string]any{"name": "a", "role": "r"}, map[string]any{"name": "b"}}, "auth", map[string]any{"password": "in-clear", "pin": 12})
	secrets := values("users", []any{map[string]any{"name": "b", "password": "hunter"}}, "auth.password", "hunter")
	target := secretChart(plain, secrets)
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	content := map[string]any{}
	for _, o := range r.Objects {
		content[o.Name] = o.Field("data")
	}
	want := map[string]any{
		"s":     map[string]any{"password": "aHVudGVy"},
		"c":     content["c"],
		"users": map[string]any{"users": `[{"name":"a","role":"r"},{"name":"b","password":"hunter"}]`},
	}
	assert.Equal(t, want, content)
	preview := r.preview(target)
	assert.Equal(t, []string{"helm_parameters.auth.pin"}, preview.ShownSecrets, "shown")
	objects := func(password string, key string) map[string]string {
		target := secretChart(plain, values("auth.password", password))
		target.DigestKey = []byte(key)
		p, ps := new(Renderings).Preview(t.Context(), target)
		require.Empty(t, ps)
		return p.Objects
	}
	base := objects("one", "key")
	assert.Equal(t, base, objects("one", "key"), "without a change")
	for key, digest := range objects("two", "key") {
		assert.Equal(t, key == "v1/ConfigMap users", (digest == base[key]), "with another password: %s is %s and was %s", key, digest, base[key])
	}
	for key, digest := range objects("one", "other") {
		assert.NotEqual(t, base[key], digest, "the digest of %s has no key", key)
	}
	for key, digest := range objects("one", "") {
		assert.Empty(t, digest, "without a key the digest of %s", key)
	}
	// A digest that does not depend on the key can be computed from a guess.
	unkeyed := secretChart(values("auth.password", "one", "users", plain["helm_parameters"].(map[string]any)["users"], "auth", map[string]any{"pin": 12}), nil) //nolint:forcetypeassert // a test
	p, ps := new(Renderings).Preview(t.Context(), unkeyed)
	require.False(t, ps.HasErrors(), "the digest of what a password is in can be guessed: %v, %v", p, ps)
	assert.NotEqual(t, base["v1/ConfigMap c"], p.Objects["v1/ConfigMap c"], "the digest of what a password is in can be guessed: %v, %v", p, ps)
}
