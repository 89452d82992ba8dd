package privateregistry

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fakeManager has registries, of which it lists those that a filter selects. Their hosts answer with
// err.
type fakeManager struct {
	vnfm.Manager
	registries []vnfm.Registry
	filter     vnfm.RegistryFilter
	err        error
}

func (m *fakeManager) Registries(_ context.Context, filter vnfm.RegistryFilter) ([]vnfm.Registry, error) {
	m.filter = filter
	var out []vnfm.Registry
	for i := range m.registries {
		if filter.Selects(&m.registries[i]) {
			out = append(out, m.registries[i])
		}
	}
	return out, nil
}

func (m *fakeManager) ReadRegistry(_ context.Context, id string) (*vnfm.Registry, error) {
	for i := range m.registries {
		if m.registries[i].ID == id {
			return &m.registries[i], m.err
		}
	}
	return nil, &vnfm.NotFoundError{Kind: "private registry", ID: id}
}

func newFakeManager() *fakeManager {
	at := func(id, name, host, instance string) vnfm.Registry {
		return vnfm.Registry{
			ID: id, Spec: vnfm.RegistrySpec{Name: name, SSH: vnfm.SSHAccess{Address: host}, InstanceID: instance, Runtime: "docker", Port: 5000},
			Address: "192.0.2.9", State: vnfm.RegistryState{Ready: true, System: "debian 12", Engine: "v26.1.5"},
		}
	}
	return &fakeManager{registries: []vnfm.Registry{
		at("1", "one", "192.0.2.1", ""), at("2", "two", "192.0.2.1", ""), at("3", "one", "", "core"), at("4", "one", "192.0.2.4", ""), at("5", "one", "", "core"),
	}}
}

func read(t *testing.T, m *fakeManager, arguments map[string]string) (readModel, diag.Diagnostics) {
	t.Helper()
	state, diags := modeltest.ReadDataSource(t, NewDataSource(), m, arguments)
	var got readModel
	if !diags.HasError() {
		diags.Append(state.Get(t.Context(), &got)...)
	}
	return got, diags
}

// TestFind: a registry is found by its id, or by its host or instance with a name where these have
// several.
func TestFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arguments map[string]string
		id        string
		summary   string
		details   []string
	}{
		"id":             {arguments: map[string]string{"id": "2"}, id: "2"},
		"host":           {arguments: map[string]string{"host": "192.0.2.4"}, id: "4"},
		"host and name":  {arguments: map[string]string{"host": "192.0.2.1", "name": "two"}, id: "2"},
		"no such id":     {arguments: map[string]string{"id": "9"}, summary: `Unable to Read Private Registry "9"`, details: []string{"not in the store"}},
		"no such host":   {arguments: map[string]string{"host": "192.0.2.7", "name": "two"}, summary: "Private Registry Not Found", details: []string{`the host "192.0.2.7" and the name "two"`, "give the id"}},
		"two on a host":  {arguments: map[string]string{"host": "192.0.2.1"}, summary: "Several Private Registries Found", details: []string{`"one" (1), "two" (2)`, "Give the name as well, or the id of one."}},
		"two of a name":  {arguments: map[string]string{"instance_id": "core", "name": "one"}, summary: "Several Private Registries Found", details: []string{`the instance_id "core" and the name "one"`, "Give the id of one."}},
		"other instance": {arguments: map[string]string{"instance_id": "edge"}, summary: "Private Registry Not Found", details: []string{`the instance_id "edge"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := read(t, newFakeManager(), c.arguments)
			if c.summary == "" {
				require.Empty(t, diags)
				require.Equal(t, c.id, got.ID.ValueString())
				return
			}
			require.Len(t, diags, 1)
			require.Equal(t, c.summary, diags[0].Summary())
			for _, text := range c.details {
				require.Contains(t, diags[0].Detail(), text)
			}
		})
	}
}

// TestHostDoesNotAnswer: the state has what the record says, with a warning.
func TestHostDoesNotAnswer(t *testing.T) {
	t.Parallel()
	m := newFakeManager()
	got, diags := read(t, m, map[string]string{"id": "3"})
	require.Empty(t, diags)
	require.Equal(t, statusReady, got.Status.ValueString())
	require.Equal(t, "26.1.5", got.RuntimeVersion.ValueString())
	require.Equal(t, "192.0.2.9:5000", got.Server.ValueString())
	require.False(t, got.Drift.IsNull())

	m.err = errors.New("connection refused")
	got, diags = read(t, m, map[string]string{"id": "3"})
	require.Len(t, diags, 1)
	require.Equal(t, diag.SeverityWarning, diags[0].Severity())
	require.Contains(t, diags[0].Detail(), "Connection refused")
	require.Equal(t, statusUnreachable, got.Status.ValueString())
	require.Equal(t, "core", got.InstanceID.ValueString())

	m.err = &vnfm.EditedError{Doing: "opening the credentials", Fields: []string{"host"}, Record: vnfm.EditedRegistry}
	got, diags = read(t, m, map[string]string{"id": "3"})
	require.Len(t, diags, 1)
	require.Contains(t, diags[0].Summary(), "Was Edited")
	require.Equal(t, statusUnknown, got.Status.ValueString())

	m.err = fmt.Errorf("opening the credentials: %w", vnfm.ErrUnopened)
	got, diags = read(t, m, map[string]string{"id": "3"})
	require.Len(t, diags, 1)
	require.Equal(t, diag.SeverityWarning, diags[0].Severity())
	require.Contains(t, diags[0].Summary(), "Cannot Be Opened")
	require.Equal(t, statusUnknown, got.Status.ValueString())
}

// TestList: filters reach the manager, and what it answers the state.
func TestList(t *testing.T) {
	t.Parallel()
	m := newFakeManager()
	list := func(arguments map[string]string) []recordModel {
		return modeltest.ReadList[recordModel](t, NewListDataSource(), m, arguments, "private_registries")
	}
	require.Len(t, list(nil), len(m.registries))
	require.Empty(t, m.filter)
	got := list(map[string]string{"name": "one", "instance_id": "core"})
	require.Equal(t, vnfm.RegistryFilter{Name: "one", InstanceID: "core"}, m.filter)
	require.Len(t, got, 2)
	var diags diag.Diagnostics
	require.Equal(t, readModelOf(t.Context(), &m.registries[2], &diags).recordModel, got[0])
	require.Empty(t, list(map[string]string{"instance_id": "none"}))
}

// TestRecordIsShown: each field of a record but the login and the secrets reaches the data source.
func TestRecordIsShown(t *testing.T) {
	t.Parallel()
	hidden := []string{
		"HostKeys", "State.Port", "State.Secure", "State.Ready", "Spec.Certificate", "Spec.NoProxy", "Spec.Key", "Spec.Users", "Spec.HTTPProxy", "Spec.HTTPSProxy", "Spec.Pins",
		"Spec.SSH.Port", "Spec.SSH.User", "Spec.SSH.Agent", "Spec.SSH.HostKeys", "Spec.SSH.Strict", "Spec.SSH.Jump",
		"Spec.SSH.Password", "Spec.SSH.SudoPassword", "Spec.SSH.PrivateKey", "Spec.SSH.Passphrase",
	}
	modeltest.EachField(t, hidden, func(r vnfm.Registry) any {
		var diags diag.Diagnostics
		m := readModelOf(t.Context(), &r, &diags)
		require.Empty(t, diags)
		return m
	})
}
