package privateregistry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// secretNames are the secrets that have a write-only form.
var secretNames = []string{
	"ssh.password", "ssh.private_key", "ssh.passphrase", "ssh.sudo_password", "ssh.jump_host.password", "ssh.jump_host.private_key", "ssh.jump_host.passphrase",
	"tls.key", "users", "proxy.http_proxy", "proxy.https_proxy",
}

// TestEveryArgumentIsRead: each argument reaches the specification of the registry.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	for _, writeOnly := range []bool{false, true} {
		set := map[string]any{"ssh.host_key_policy": "strict", "ssh.jump_host.host_key_policy": "strict"}
		ignored := []string{
			"id", "status", "drift", "address", "server", "url", "image_id", "operating_system", "runtime_version", "timeouts", "instance_generation", "deletion_policy",
			"on_unreachable", "operations",
		}
		for _, name := range secretNames {
			ignored = append(ignored, name+"_wo_version")
			if writeOnly {
				ignored = append(ignored, name)
			} else {
				set[name+"_wo"] = nil
			}
		}
		modeltest.EachArgument(t, modeltest.Full(t, NewResource(), set), ignored, func(m *model, diags *diag.Diagnostics) any {
			return m.spec(t.Context(), diags)
		})
	}
}

// TestRegistryRoundTrip: an import restores the arguments that the record has.
func TestRegistryRoundTrip(t *testing.T) {
	t.Parallel()
	record := modeltest.Filled[vnfm.Registry]()
	m := modeltest.Decode[model](t, modeltest.Full(t, NewResource(), map[string]any{
		"name": nil, "tls": nil, "users": nil, "users_wo": nil, "proxy": nil, "ssh.jump_host": nil, "timeouts": nil,
		"pinned_host_keys": nil,
	}))
	m.restore(&record)
	var diags diag.Diagnostics
	got := m.spec(t.Context(), &diags)
	require.Empty(t, diags)
	want := record.Spec
	// The record has no secrets, and the configuration alone says how to log in.
	want.SSH = got.SSH
	want.SSH.Address = record.Spec.SSH.Address
	want.Certificate, want.NoProxy, want.Key, want.Users, want.HTTPProxy, want.HTTPSProxy, want.Pins = "", "", "", nil, "", "", nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-record +specification):\n%s", diff)
	}
}

// TestEveryFieldIsShown: each field that was observed reaches the state.
func TestEveryFieldIsShown(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, []string{"Port", "Secure", "Ready"}, func(s vnfm.RegistryState) any {
		var m model
		var diags diag.Diagnostics
		m.set(t.Context(), &vnfm.Registry{State: s}, &diags)
		require.Empty(t, diags)
		return m
	})
	var m model
	var diags diag.Diagnostics
	m.set(t.Context(), &vnfm.Registry{State: vnfm.RegistryState{Ready: true}}, &diags)
	require.Equal(t, types.StringValue(statusReady), m.Status)
	m.set(t.Context(), &vnfm.Registry{}, &diags)
	require.Equal(t, types.StringValue(statusDrifted), m.Status)
}

// TestUsers: write-only passwords are merged over the others by user.
func TestUsers(t *testing.T) {
	t.Parallel()
	full := map[string]any{"ssh.host_key_policy": "strict", "ssh.jump_host": nil}
	for name, c := range map[string]struct {
		plain, writeOnly map[string]string
		want             map[string]vnfm.Secret
	}{
		"none":       {nil, nil, nil},
		"plain":      {map[string]string{"a": "1"}, nil, map[string]vnfm.Secret{"a": "1"}},
		"write-only": {nil, map[string]string{"a": "1"}, map[string]vnfm.Secret{"a": "1"}},
		"both":       {map[string]string{"a": "1", "b": "2"}, map[string]string{"b": "3", "c": "4"}, map[string]vnfm.Secret{"a": "1", "b": "3", "c": "4"}},
	} {
		m := modeltest.Decode[model](t, modeltest.Full(t, NewResource(), full))
		m.Users, m.UsersWO = types.MapNull(types.StringType), types.MapNull(types.StringType)
		if c.plain != nil {
			m.Users = tfutil.StringMap(c.plain)
		}
		if c.writeOnly != nil {
			m.UsersWO = tfutil.StringMap(c.writeOnly)
		}
		var diags diag.Diagnostics
		require.Equal(t, c.want, m.spec(t.Context(), &diags).Users, name)
		require.Empty(t, diags)
	}
}

// TestDeletionPolicy: a destroy keeps the images unless the policy says delete.
func TestDeletionPolicy(t *testing.T) {
	t.Parallel()
	kinds := map[string]attr.Type{"images": types.StringType}
	policy := func(images types.String) types.Object {
		return types.ObjectValueMust(kinds, map[string]attr.Value{"images": images})
	}
	for name, c := range map[string]struct {
		policy types.Object
		want   bool
	}{
		"no policy":       {types.ObjectNull(kinds), false},
		"no images in it": {policy(types.StringNull()), false},
		"keep":            {policy(types.StringValue(imagesKeep)), false},
		"delete":          {policy(types.StringValue(imagesDelete)), true},
	} {
		var diags diag.Diagnostics
		m := model{DeletionPolicy: c.policy}
		require.Equal(t, c.want, m.removesImages(t.Context(), &diags), name)
		require.Empty(t, diags)
	}
}
