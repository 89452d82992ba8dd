package lcm_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// busyHosts are hosts on which an installation takes a moment.
type busyHosts struct {
	vnfm.RegistryDriver
	now, most atomic.Int64
}

func (b *busyHosts) InstallRegistry(context.Context, *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	b.most.Store(max(b.most.Load(), b.now.Add(1)))
	<-time.After(50 * time.Millisecond)
	b.now.Add(-1)
	return &vnfm.RegistryState{}, nil
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
				keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(dir, "key.txt")})
				require.NoError(t, err)
				e := lcm.New(lcm.Config{
					OpenStore: func(ctx context.Context) (store.Store, error) {
						return sqlite.Open(ctx, filepath.Join(dir, "store.db"), "test")
					},
					Keyring: keys, Registries: hosts,
				})
				t.Cleanup(func() {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				})
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
			if got := hosts.most.Load(); got > test.most {
				t.Errorf("%d at once, want %d at most", got, test.most)
			}
		})
	}
}

// TestARegistryWaitsForItsLock removes a registry while a process of another machine has its lease.
func TestARegistryWaitsForItsLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(filepath.Dir(path), "key.txt")})
	require.NoError(t, err)
	met := func() {}
	e := lcm.New(lcm.Config{Keyring: keys, Registries: &busyHosts{}, OpenStore: func(ctx context.Context) (store.Store, error) {
		db, err := sqlite.Open(ctx, path, "test")
		if err != nil {
			return nil, err
		}
		return meeting{db.(encodedStore), func() { met() }}, nil //nolint:forcetypeassert // the local store
	}})
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	r, err := e.InstallRegistry(t.Context(), "", vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u"}})
	require.NoError(t, err)

	elsewhere, err := sqlite.Open(t.Context(), path, "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, elsewhere.Close()) })
	lease, err := elsewhere.Acquire(t.Context(), "registry/"+r.ID, "pid=1 host=elsewhere")
	require.NoError(t, err)
	waited := false
	met = sync.OnceFunc(func() {
		waited = true
		require.NoError(t, lease.Release(t.Context()))
	})
	require.NoError(t, e.RemoveRegistry(t.Context(), r.ID, vnfm.RegistryRemoval{}))
	require.True(t, waited)
}
