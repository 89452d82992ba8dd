package lcm_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// busyHosts are hosts on which an installation takes a moment.
type busyHosts struct {
	vnfm.RegistryDriver
	now, most atomic.Int64
}

func (b *busyHosts) InstallRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	b.most.Store(max(b.most.Load(), b.now.Add(1)))
	<-time.After(50 * time.Millisecond)
	b.now.Add(-1)
	return &vnfm.RegistryState{}, h.Begin(ctx)
}

func (b *busyHosts) RemoveRegistry(ctx context.Context, h *vnfm.RegistryHost, _ bool) error {
	_, err := b.InstallRegistry(ctx, h)
	return err
}

// TestRegistriesOnOneHost installs and removes several registries from two processes at once.
func TestRegistriesOnOneHost(t *testing.T) {
	for name, test := range map[string]struct {
		hosts []string
		most  int64
	}{
		"one host":  {[]string{"192.0.2.1", "192.0.2.1"}, 1},
		"two hosts": {[]string{"192.0.2.1", "192.0.2.2"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir, hosts := t.TempDir(), &busyHosts{}
			var wg sync.WaitGroup
			for _, host := range test.hosts {
				e := newEngine(t, dir, lcm.Config{Registries: hosts}, nil)
				wg.Go(func() {
					r, err := e.InstallRegistry(t.Context(), "", vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: host, User: "u"}})
					if err == nil {
						err = e.RemoveRegistry(t.Context(), r.ID, vnfm.RegistryRemoval{})
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			require.LessOrEqual(t, hosts.most.Load(), test.most, "at once")
		})
	}
}

// TestARegistryWaitsForItsLock removes a registry while a process of another machine has its lease.
func TestARegistryWaitsForItsLock(t *testing.T) {
	t.Parallel()
	dir, met := t.TempDir(), func() {}
	e := newEngine(t, dir, lcm.Config{Registries: &busyHosts{}}, func(s encodedStore) store.Store { return meeting{s, func() { met() }} })
	r, err := e.InstallRegistry(t.Context(), "", vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u"}})
	require.NoError(t, err)

	lease, err := opened(t, dir).Acquire(t.Context(), "registry/"+r.ID, "pid=1 host=elsewhere")
	require.NoError(t, err)
	waited := false
	met = sync.OnceFunc(func() {
		waited = true
		require.NoError(t, lease.Release(t.Context()))
	})
	require.NoError(t, e.RemoveRegistry(t.Context(), r.ID, vnfm.RegistryRemoval{}))
	require.True(t, waited)
}

// brokenHost lets the user in, and then fails.
type brokenHost struct {
	busyHosts
	removed []string
}

func (b *brokenHost) InstallRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	if h.Spec.Name == "refused" {
		return nil, errBroken
	}
	return nil, errors.Join(h.HostKeys.Pin(ctx, h.Pin, "ssh-ed25519 MET"), h.Begin(ctx), errBroken)
}

func (b *brokenHost) RemoveRegistry(_ context.Context, h *vnfm.RegistryHost, _ bool) error {
	b.removed = append(b.removed, h.Spec.Name+" "+h.HostKeys.Pinned(h.Pin)+" "+h.Spec.SSH.Password.Reveal())
	return nil
}

// TestAnInstallationThatFails: the record exists, with the key of the host and the sealed login, before anything is changed on the host,
// and leads a removal there. A host that does not let the user in leaves none.
func TestAnInstallationThatFails(t *testing.T) {
	hosts := &brokenHost{}
	e, s := registryEngine(t, hosts)
	spec := vnfm.RegistrySpec{Name: "refused", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u", Password: "planted"}}
	left, err := e.InstallRegistry(t.Context(), "", spec)
	require.ErrorIs(t, err, errBroken)
	require.Nil(t, left)
	spec.Name = "r"
	left, err = e.InstallRegistry(t.Context(), "", spec)
	require.ErrorIs(t, err, errBroken)
	require.NotNil(t, left)
	recorded, err := s.List(t.Context(), store.Query{Kind: store.KindRegistry})
	require.NoError(t, err)
	require.Len(t, recorded, 1)
	require.Equal(t, left.ID, recorded[0].ID)
	require.NoError(t, e.RemoveRegistry(t.Context(), left.ID, vnfm.RegistryRemoval{}))
	require.Equal(t, []string{"r ssh-ed25519 MET planted"}, hosts.removed)
	_, err = e.Registry(t.Context(), left.ID)
	require.ErrorIs(t, err, vnfm.ErrNotFound)
}
