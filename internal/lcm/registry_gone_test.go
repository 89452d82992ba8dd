package lcm_test

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// registryEngine is an engine with a driver for registries, and its store.
func registryEngine(t *testing.T, driver vnfm.RegistryDriver) (*lcm.Engine, store.Store) {
	t.Helper()
	dir := t.TempDir()
	return newEngine(t, dir, lcm.Config{Registries: driver}, nil), opened(t, dir)
}

// goneHost is a host on which a registry was installed before it went.
type goneHost struct{ vnfm.RegistryDriver }

func (goneHost) InstallRegistry(ctx context.Context, on *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	return &vnfm.RegistryState{}, on.Begin(ctx)
}

func (goneHost) FindRegistry(context.Context, *vnfm.RegistryHost) ([]string, error) {
	return nil, &vnfm.UnreachableError{Peer: "host 192.0.2.1", Err: syscall.ECONNREFUSED}
}

func (h goneHost) RemoveRegistry(ctx context.Context, on *vnfm.RegistryHost, _ bool) error {
	_, err := h.FindRegistry(ctx, on)
	return err
}

// TestRemoveRegistryFromGoneHost: the argument of the registry goes before that of the VIM of its server, and that before the default.
func TestRemoveRegistryFromGoneHost(t *testing.T) {
	t.Parallel()
	const fails, forgets = vnfm.OnUnreachableFail, vnfm.OnUnreachableForget
	for name, c := range map[string]struct {
		own, vim, fallback vnfm.OnUnreachable
		// lost says that the store has lost the record.
		lost, forgotten bool
	}{
		"nothing said":         {},
		"own":                  {own: forgets, forgotten: true},
		"own before others":    {own: fails, vim: forgets, fallback: forgets},
		"VIM":                  {vim: forgets, forgotten: true},
		"VIM before provider":  {vim: fails, fallback: forgets},
		"provider":             {fallback: forgets, forgotten: true},
		"lost record":          {own: forgets, lost: true, forgotten: true},
		"lost record, and why": {lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := registryEngine(t, goneHost{})
			spec := vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u"}}
			if c.vim != "" {
				spec.InstanceID = "server"
				require.NoError(t, (&records.Entry[vnfm.VIM]{Rec: store.Record{Kind: store.KindVIM, ID: "vim"}, Value: vnfm.VIM{ID: "vim", OnUnreachable: c.vim}}).Create(t.Context(), s))
				require.NoError(t, (&records.Entry[vnfm.Instance]{Rec: store.Record{Kind: store.KindInstance, ID: "server"}, Value: vnfm.Instance{ID: "server", VIMID: "vim"}}).Create(t.Context(), s))
			}
			made, err := e.InstallRegistry(t.Context(), "", spec)
			require.NoError(t, err)
			var left []error
			how := vnfm.RegistryRemoval{OnUnreachable: c.own, DefaultOnUnreachable: c.fallback, LeftBehind: func(reason error) { left = append(left, reason) }}
			if c.lost {
				require.NoError(t, s.Delete(t.Context(), store.KindRegistry, made.ID))
				_, err = e.RecoverRegistry(t.Context(), made.ID, spec, &how)
			}
			if err == nil {
				err = e.RemoveRegistry(t.Context(), made.ID, how)
			}
			_, recorded := e.Registry(t.Context(), made.ID)
			if !c.forgotten {
				require.ErrorContains(t, err, "host 192.0.2.1 cannot be reached: connection refused")
				require.Empty(t, left)
				require.Equal(t, c.lost, recorded != nil)
				return
			}
			require.NoError(t, err)
			require.Len(t, left, 1)
			require.ErrorContains(t, left[0], "host 192.0.2.1 cannot be reached: connection refused")
			require.ErrorIs(t, recorded, vnfm.ErrNotFound)
		})
	}
}

// keyHost notes which key of it is known at each call, and pins its own where none is.
type keyHost struct {
	vnfm.RegistryDriver
	known []string
}

func (k *keyHost) FindRegistry(ctx context.Context, h *vnfm.RegistryHost) ([]string, error) {
	k.known = append(k.known, h.HostKeys.Pinned(h.Pin))
	if h.HostKeys.Pinned(h.Pin) != "" {
		return nil, nil
	}
	return nil, h.HostKeys.Pin(ctx, h.Pin, "ssh-ed25519 MET")
}

func (k *keyHost) InstallRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	_, err := k.FindRegistry(ctx, h)
	return &vnfm.RegistryState{}, errors.Join(err, h.Begin(ctx))
}

// TestHostKeysOutliveTheRecord: the keys of Terraform's state hold where the record has none, and no other key is trusted then.
func TestHostKeysOutliveTheRecord(t *testing.T) {
	t.Parallel()
	host := &keyHost{}
	e, s := registryEngine(t, host)
	const pin = "host/192.0.2.1"
	spec := vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u"}}
	made, err := e.InstallRegistry(t.Context(), "", spec)
	require.NoError(t, err)
	require.Equal(t, map[string]string{pin: "ssh-ed25519 MET"}, made.HostKeys)

	spec.Pins = map[string]string{pin: "ssh-ed25519 STATE"}
	_, err = e.InstallRegistry(t.Context(), made.ID, spec)
	require.NoError(t, err, "the record knows better")
	for _, again := range []func() error{
		func() error { _, err := e.RecoverRegistry(t.Context(), made.ID, spec, nil); return err },
		func() error { _, err := e.InstallRegistry(t.Context(), made.ID, spec); return err },
	} {
		require.NoError(t, s.Delete(t.Context(), store.KindRegistry, made.ID))
		require.NoError(t, again())
		found, err := e.Registry(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, spec.Pins, found.HostKeys)
	}
	require.Equal(t, []string{"", "ssh-ed25519 MET", "ssh-ed25519 STATE", "ssh-ed25519 STATE"}, host.known)
}
