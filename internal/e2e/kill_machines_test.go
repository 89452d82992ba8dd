//go:build unix

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// machinesOf are the names of the machines of the workload cluster whose name has the part.
func (env *testEnv) machinesOf(part string) []string {
	env.Helper()
	all := strings.Fields(env.lab.Kubectl(env, "get", "machines.cluster.x-k8s.io", "-n", env.namespace, "-o", "jsonpath={.items[*].metadata.name}"))
	return slices.DeleteFunc(all, func(name string) bool { return !strings.Contains(name, part) })
}

// TestAccKill_machines kills the heal of a machine of a workload cluster, and the removal of
// named ones. The next apply replaces or removes what was asked for, and nothing twice.
func TestAccKill_machines(t *testing.T) {
	t.Parallel()
	labtest.ClusterAPI(t)
	k := newKiller(newStoreEnv(t))
	configure := func(group, more string) {
		k.workloadClusterOf("1.34.0", "workers = { "+group+" }", more)
	}
	// ends applies, kills at one of so many writes, applies again, and expects the cluster
	// to be as it was asked for.
	ends := func(operation string, n, writes int) {
		i := k.atWrite(n, writes)
		k.step(operation, n, i, func() {
			k.kill(operation, i, "apply", "-auto-approve")
			k.apply()
			k.expectEmptyPlan()
		})
	}
	for n := range k.sampler.Kills(1) {
		configure("replicas = 3", "")
		k.apply()

		// The only write is the deletion of the machine.
		before := k.machinesOf("-")
		victim := k.machinesOf("workers")[0]
		configure("replicas = 3", fmt.Sprintf(`heal = { trigger = "one %d", machine_names = [%q] }`, n, victim))
		ends("heal", n, 1)
		now := k.machinesOf("-")
		stayed := slices.DeleteFunc(slices.Clone(now), func(name string) bool { return !slices.Contains(before, name) })
		if len(now) != 4 || len(stayed) != 3 || slices.Contains(now, victim) {
			t.Errorf("%s was to be replaced: the machines were %v and are %v", victim, before, now)
		}

		// The mark, and the number of the group.
		workers := k.machinesOf("workers")
		slices.Sort(workers)
		configure(fmt.Sprintf("replicas = 1, scale_in_machine_names = [%q, %q]", workers[0], workers[2]), "")
		ends("removal", n+2, 3)
		if left := k.machinesOf("workers"); !slices.Equal(left, workers[1:2]) {
			t.Errorf("%s was to stay of %v, and there are %v", workers[1], workers, left)
		}
	}
	k.destroy()
	k.report()
}
