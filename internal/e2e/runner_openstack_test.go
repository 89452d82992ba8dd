package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// TestAccRunners_openStack leads a VNF of servers through its life, each step on a new runner: what is planned on one is applied on
// the next, a lost server is seen on one and replaced on another. In CI TestAccOpenStack_interrupted does the same with one store.
func TestAccRunners_openStack(t *testing.T) {
	t.Parallel()
	for _, name := range runnerStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newOpenStackEnv(t)
			env.useRunners(t, name)
			env.level(0)
			env.applyOnNext()
			id, small := env.resource(address).text("id"), env.servers()
			stack := env.stackOf(id)
			require.NotNil(t, stack)
			env.nextRunner()
			env.expectServers(2)

			env.nextRunner()
			env.level(1)
			env.applyOnNext()
			large := env.servers()
			env.expectKept(small)
			env.nextRunner()
			env.expectServers(3)

			added := maps.Clone(large)
			maps.DeleteFunc(added, func(id, _ string) bool { return small[id] != "" })
			require.Len(t, added, 1)
			lost := slices.Collect(maps.Keys(added))[0]
			env.lose(lost)
			env.nextRunner()
			env.applyOnNext()
			env.expectKept(small)
			require.NotContains(t, env.servers(), lost)
			env.nextRunner()
			env.expectServers(3)
			require.Equal(t, id, env.resource(address).text("id"))
			require.Equal(t, stack.ID, env.stackOf(id).ID)

			env.nextRunner()
			env.applyOnNext("-destroy")
			env.expectGone(id)
		})
	}
}

// useRunners gives the environment a store, or none that lasts. The connection of the cloud comes with each run then.
func (env *openStackEnv) useRunners(t *testing.T, name string) {
	t.Helper()
	env.useRemote(t, name)
	if name == "none" {
		env.perRun = fmt.Sprintf("cloud = { %s }", env.arguments())
	}
}

// nextRunner goes on with another runner. One with a remote store leaves nothing on its disk.
func (env *openStackEnv) nextRunner() {
	env.Helper()
	if env.remote != nil {
		env.expectNoTrace()
	}
	env.moveOn()
}

// applyOnNext plans on this runner and applies that plan on the next one.
func (env *openStackEnv) applyOnNext(args ...string) {
	env.Helper()
	env.handOver(args...)
	env.expectExit(0, "apply", "plan")
}

// servers are the names of the project's servers by their ids.
func (env *openStackEnv) servers() map[string]string {
	env.Helper()
	servers, err := env.client.Servers(env.Context())
	require.NoError(env, err)
	out := make(map[string]string, len(servers))
	for id, s := range servers {
		out[id] = s.Name
	}
	return out
}

// expectKept checks that all of some servers are still there.
func (env *openStackEnv) expectKept(before map[string]string) {
	env.Helper()
	now := env.servers()
	for id, name := range before {
		if now[id] == "" {
			env.Errorf("server %s %s is gone; there are %v", name, id, now)
		}
	}
}

// lose deletes a server behind the back of Heat.
func (env *openStackEnv) lose(id string) {
	env.Helper()
	env.cloud.Delete(env, "compute", "/servers/"+id)
	for env.servers()[id] != "" {
		require.NoError(env, poll.Sleep(env.Context(), 300*time.Millisecond))
	}
}
