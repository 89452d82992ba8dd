//go:build unix

package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// TestAccRunners_openStack leads a VNF of servers through its life.
func TestAccRunners_openStack(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, store string) *life {
		t.Helper()
		env := newOpenStackEnv(t)
		env.useRunners(t, store)
		return &life{
			env: env.testEnv, address: address,
			made:    func() { env.level(0) },
			changed: func() { env.level(1) },
			drift:   func() { env.lose("FW") },
			parts:   env.parts,
			check:   func(changed bool) { env.expectActive(map[bool]int{false: 2, true: 3}[changed]) },
			gone:    env.expectGone,
		}
	})
}

// parts are the stack and the servers, each by what it is.
func (env *openStackEnv) parts() map[string]string {
	env.Helper()
	stack := env.stack()
	require.NotNil(env, stack)
	out := map[string]string{"the stack": stack.ID}
	servers, err := env.client.Servers(env.Context())
	require.NoError(env, err)
	for id, s := range servers {
		out["server "+s.Name] = id
	}
	return out
}

// lose deletes a server of a VDU behind the back of Heat.
func (env *openStackEnv) lose(vdu string) {
	env.Helper()
	id := env.serversOf(vdu)[0].ID
	env.cloud.Delete(env, "compute", "/servers/"+id)
	for {
		servers, err := env.client.Servers(env.Context())
		require.NoError(env, err)
		if servers[id] == nil {
			return
		}
		require.NoError(env, poll.Sleep(env.Context(), 300*time.Millisecond))
	}
}
