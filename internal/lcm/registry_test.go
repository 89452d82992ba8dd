package lcm_test

import (
	"context"
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
