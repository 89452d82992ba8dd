package lcm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// markedHost is a host with the mark of a registry, or without.
type markedHost struct {
	vnfm.RegistryDriver
	users []string
	// seen is what the last call was made with.
	seen *vnfm.RegistrySpec
}

func (h *markedHost) FindRegistry(context.Context, *vnfm.RegistryHost) ([]string, error) {
	if h.users == nil {
		return nil, vnfm.ErrNoRegistry
	}
	return h.users, nil
}

func (h *markedHost) ReadRegistry(_ context.Context, on *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	h.seen = on.Spec
	return &vnfm.RegistryState{Ready: true}, nil
}

func (h *markedHost) RemoveRegistry(_ context.Context, on *vnfm.RegistryHost, _ bool) error {
	h.seen, h.users = on.Spec, nil
	return nil
}

// A registry whose record was lost is recorded again under its id, with the users that its host has; the login is sealed.
func TestRecoverRegistry(t *testing.T) {
	host := &markedHost{users: []string{"reader", "writer"}}
	e, _ := registryEngine(t, host)
	spec := vnfm.RegistrySpec{
		Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u", Password: "planted"}, Users: map[string]vnfm.Secret{"reader": "known"},
	}
	_, err := e.RecoverRegistry(t.Context(), "7", spec, nil)
	require.NoError(t, err)
	read, err := e.ReadRegistry(t.Context(), "7")
	require.NoError(t, err)
	assert.True(t, read.State.Ready)
	assert.Equal(t, "192.0.2.1", read.Address)
	assert.Equal(t, map[string]vnfm.Secret{"reader": "known", "writer": ""}, host.seen.Users)
	assert.Equal(t, "planted", host.seen.SSH.Password.Reveal())
	_, err = e.RecoverRegistry(t.Context(), "7", spec, nil)
	require.NoError(t, err, "another process was first")

	require.NoError(t, e.RemoveRegistry(t.Context(), "7", vnfm.RegistryRemoval{}))
	_, err = e.RecoverRegistry(t.Context(), "7", spec, &vnfm.RegistryRemoval{})
	require.ErrorIs(t, err, vnfm.ErrNoRegistry)
	_, err = e.Registry(t.Context(), "7")
	require.ErrorIs(t, err, vnfm.ErrNotFound)
}
