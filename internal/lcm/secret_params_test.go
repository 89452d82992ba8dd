package lcm_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// users are parameters with a password for each of two users.
func users(one, two string) map[string]any {
	return map[string]any{"values": map[string]any{"users": []any{map[string]any{"name": "one", "password": one}, map[string]any{"name": "two", "password": two}}}}
}

// plainUsers are those without the passwords.
func plainUsers() map[string]any {
	return map[string]any{"values": map[string]any{"users": []any{map[string]any{"name": "one", "role": "admin"}, map[string]any{"name": "two"}}}}
}

// password is that of the first user, as the infra driver has seen it last.
func (w *env) password() any {
	values, _ := w.driver.seen["values"].(map[string]any)
	list, _ := values["users"].([]any)
	if len(list) == 0 {
		return nil
	}
	user, _ := list[0].(map[string]any)
	return user["password"]
}

// observed is the password that a refresh of another process works with.
func (w *env) observed(t *testing.T, id string) any {
	t.Helper()
	w.driver.seen = nil
	require.NoError(t, second(w.open(t).Observe(t.Context(), id)))
	return w.password()
}

// Secret parameters reach the infra driver in whatever it is called for, are compared like all
// others, and are in no record.
func TestSecretParamsOfInfraDrivers(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.AdditionalParams, spec.SecretParams = plainUsers(), users("planted-1", "planted-2")
	i := w.mustInstantiate(t, spec)
	same(t, "parameters at creation", w.driver.seen, map[string]any{"values": map[string]any{"users": []any{
		map[string]any{"name": "one", "role": "admin", "password": "planted-1"}, map[string]any{"name": "two", "password": "planted-2"},
	}}})
	same(t, "recorded parameters", i.AdditionalParams, plainUsers())
	same(t, "refresh", w.observed(t, i.ID), any("planted-1"))

	w.mustUpdate(t, i.ID, spec)
	same(t, "operations without a change", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED"})

	spec.SecretParams = users("planted-3", "planted-2")
	w.mustUpdate(t, i.ID, spec)
	same(t, "operations after a change", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED", "CHANGE_VNFPKG COMPLETED"})
	same(t, "refresh after a change", w.observed(t, i.ID), any("planted-3"))

	spec.ScaleLevels = map[string]int{"workers": 1}
	w.driver.seen = nil
	w.mustUpdate(t, i.ID, spec)
	same(t, "scale", w.password(), any("planted-3"))

	w.driver.seen = nil
	require.NoError(t, w.open(t).Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	same(t, "termination", w.password(), any("planted-3"))
	notIn(t, w.dir, "planted-1", "planted-2", "planted-3")
}

// A change of secret parameters that fails is continued, and one that is taken back leaves
// what was before.
func TestFailedChangeOfSecretParams(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.AdditionalParams, spec.SecretParams = plainUsers(), users("planted-1", "planted-2")
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	w.driver.does("applied", func() error { return fmt.Errorf("the VIM refused planted-3: %w", errBroken) })
	spec.SecretParams = users("planted-3", "planted-2")
	_, err = w.Update(t.Context(), i.ID, spec)
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || !errors.Is(err, errBroken) || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "the VIM refused (sensitive)") {
		t.Fatalf("got %v", err)
	}
	same(t, "refresh after a failure", w.observed(t, i.ID), any("planted-1"))
	w.driver.fail = nil
	w.mustUpdate(t, i.ID, spec)
	same(t, "operations", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED", "CHANGE_VNFPKG COMPLETED"})
	same(t, "refresh when it is done", w.observed(t, i.ID), any("planted-3"))

	spec.OnFailure, spec.SecretParams = vnfm.OnFailureRollback, users("planted-4", "planted-2")
	w.driver.does("applied", func() error {
		if w.password() == "planted-4" {
			return errBroken
		}
		return nil
	})
	if _, err = w.Update(t.Context(), i.ID, spec); !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	w.driver.fail = nil
	same(t, "taken back", w.password(), any("planted-3"))
	same(t, "refresh when it is taken back", w.observed(t, i.ID), any("planted-3"))

	ops, err := w.Operations(t.Context(), i.ID)
	require.NoError(t, err, "operations")
	require.NotContains(t, fmt.Sprintf("%+v", ops), "planted", "operations")
	notIn(t, w.dir, "planted-1", "planted-2", "planted-3", "planted-4")
}

// A record that the store has lost is written again with the secret parameters.
func TestSecretParamsOfALostRecord(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.AdditionalParams, spec.SecretParams = plainUsers(), users("planted-1", "planted-2")
	const id = "11111111-2222-3333-4444-555555555555"
	w.mustUpdate(t, id, spec)
	same(t, "refresh", w.observed(t, id), any("planted-1"))
	same(t, "operations", w.operations(t, id), []string{"HEAL COMPLETED"})
}

// Objects that depend on secret parameters of unknown value are not shown, all others are.
func TestSecretParamsKnownLater(t *testing.T) {
	w, _, spec := newWorkerEnv(t)
	spec.AdditionalParams = map[string]any{"site": map[string]any{"password": "in clear"}}
	for _, tt := range []struct {
		name    string
		secrets map[string]any
		later   []string
		shown   bool
	}{
		{"of a management driver", map[string]any{"site": map[string]any{"password": nil}, "values": map[string]any{"a": 1}}, []string{"site"}, true},
		{"of the infra driver", map[string]any{"site": map[string]any{}, "values": map[string]any{"a": nil}}, []string{"values"}, false},
		{"of nobody knows whom", nil, nil, false},
	} {
		spec.SecretParams, spec.SecretNamesLater, spec.SecretsLater = tt.secrets, tt.later, true
		preview, problems, err := w.PreviewInstance(t.Context(), "", spec)
		if err != nil || problems.HasErrors() || (preview != nil) != tt.shown {
			t.Errorf("%s: %v, %v, %v", tt.name, preview, problems, err)
		}
	}
}

// Secrets in plain parameters are one warning.
func TestShownSecretParams(t *testing.T) {
	w := newEnv(t)
	w.driver.shown = []string{"values.pin", "values.db.adminPassword"}
	for _, tt := range []struct {
		params map[string]any
		want   []string
	}{
		{nil, []string{"values.db.adminPassword", "values.pin"}},
		{map[string]any{"values": map[string]any{
			"db":        map[string]any{"adminPassword": "x", "user": "root", "existingSecret": "db", "secretName": "db", "passwordFile": "/p"},
			"image.tag": "1", "auth.token": "x", "tokenTTL": "1h", "public_key": "x", "keyName": "x", "key": "x", "usePassword": true, "empty_password": "",
			"registries": []any{map[string]any{"imagePullSecret": "r", "client-secret": "x"}, map[string]any{"PASSPHRASE": "x", "apiKey": "x", "private_key": "x"}},
		}}, []string{
			"values.auth.token", "values.db.adminPassword", "values.pin", "values.registries[0].client-secret",
			"values.registries[1].PASSPHRASE", "values.registries[1].apiKey", "values.registries[1].private_key",
		}},
	} {
		spec := w.spec()
		spec.AdditionalParams = tt.params
		_, problems, err := w.PreviewInstance(t.Context(), "", spec)
		require.NoError(t, err)
		require.Len(t, problems, 1)
		same(t, "the warning", problems[0], vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "additional_params",
			Summary: "additional_params shows secrets: " + strings.Join(slices.Sorted(slices.Values(tt.want)), ", "),
			Detail:  "plan and state hold them in clear; give them in additional_params_wo, which is merged over additional_params and reaches neither",
		})
	}
}
