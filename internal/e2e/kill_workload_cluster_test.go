//go:build unix

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const clusterAddress = "vnf_capi_workload_cluster.test"

// workloadCluster writes a configuration with a workload cluster of that version and
// number of nodes.
func (env *testEnv) workloadCluster(version string, nodes int) {
	env.Helper()
	env.workloadClusterOf(version, fmt.Sprintf("workers = { replicas = %d }", nodes), "")
}

// workloadClusterOf writes a configuration with a workload cluster of those node groups and
// further arguments.
func (env *testEnv) workloadClusterOf(version, groups, more string) {
	env.Helper()
	env.write(env.provider(), env.vims(), fmt.Sprintf(`
resource "vnf_capi_workload_cluster" "test" {
  management_vim_id  = vnf_vim.test.id
  namespace          = %q
  name               = "edge"
  kubernetes_version = %q
  chart              = { name = "in-memory", values = [yamlencode({ provisioning = { startupDuration = "1s" } })] }
  control_plane      = { replicas = 1 }
  node_groups        = { %s }
  %s
  lifecycle {
    postcondition {
      condition     = self.status == "READY"
      error_message = "The cluster is ${self.status}: apply again to continue."
    }
  }
}
`, env.namespace, version, groups, more))
}

// machines expects that nothing is left to do, and the machines of the workload cluster to be of one version.
func (env *testEnv) machines(version string, nodes int) {
	env.Helper()
	env.expectEmptyPlan()
	env.expectMachines(version, nodes)
}

// expectMachines expects the machines of the workload cluster to be of one version.
func (env *testEnv) expectMachines(version string, nodes int) {
	env.Helper()
	got := strings.Fields(env.lab.Kubectl(env, "get", "machines.cluster.x-k8s.io", "-n", env.namespace, "-o", "jsonpath={.items[*].spec.version}"))
	want := strings.Fields(strings.Repeat("v"+version+" ", nodes+1))
	if strings.Join(got, " ") != strings.Join(want, " ") {
		env.Errorf("the machines have the versions %v, and should have %v", got, want)
	}
	// An old template goes when no machine is made of it any more, and not before.
	templates := strings.Fields(env.lab.Kubectl(env, "get", "devmachinetemplates", "-n", env.namespace, "-o", "name"))
	if len(templates) != 2 {
		env.Errorf("the machine templates are %v", templates)
	}
	if n := len(env.list(store.KindInstance)); n != 1 {
		env.Errorf("the store has %d records of instances", n)
	}
}

// TestAccKill_workloadCluster kills the creation of a workload cluster of Cluster API, the heal of a machine, the removal of named
// ones, the upgrade and the removal of the cluster, each at a request. What follows must end as if nothing had happened: the next apply
// replaces or removes what was asked for, and nothing twice.
func TestAccKill_workloadCluster(t *testing.T) {
	t.Parallel()
	labtest.ClusterAPI(t)
	k := newKiller(newStoreEnv(t))
	// The writes of each operation: objects, the Lease, marks; a creation also makes the
	// namespace. An upgrade changes two objects.
	const creates, updates, destroys = 9, 3, 3
	for n := range k.sampler.Kills(1) {
		k.workloadCluster("1.34.0", 3)
		i := k.atWrite(n, creates)
		k.step("create", n, i, func() {
			k.kill("create", i, "apply", "-auto-approve")
			k.apply()
			k.machines("1.34.0", 3)
		})
		id := k.resource(clusterAddress).text("id")
		k.healOfMachine(n)
		k.removalOfMachines(n)
		k.workloadCluster("1.35.0", 2)
		i = k.atWrite(n+1, updates)
		k.step("update", n, i, func() {
			k.kill("update", i, "apply", "-auto-approve")
			k.apply()
			k.machines("1.35.0", 2)
			if got := k.resource(clusterAddress).text("id"); got != id {
				k.Errorf("the cluster %s became %s", id, got)
			}
		})
		i = k.atWrite(n+2, destroys)
		k.step("destroy", n, i, func() {
			k.kill("destroy", i, "destroy", "-auto-approve")
			k.destroy()
			left := k.lab.Kubectl(t, "get", "clusters,machines,kubeadmcontrolplanes,devmachinetemplates", "-n", k.namespace, "-o", "name", "--ignore-not-found")
			if left != "" {
				k.Errorf("left behind: %s", left)
			}
		})
	}
	k.report()
}

// machinesOf are the names of the machines of the workload cluster whose name has the part.
func (env *testEnv) machinesOf(part string) []string {
	env.Helper()
	all := strings.Fields(env.lab.Kubectl(env, "get", "machines.cluster.x-k8s.io", "-n", env.namespace, "-o", "jsonpath={.items[*].metadata.name}"))
	return slices.DeleteFunc(all, func(name string) bool { return !strings.Contains(name, part) })
}

// healOfMachine kills the heal of one of the three machines of the node group.
func (k *killer) healOfMachine(n int) {
	k.Helper()
	before := k.machinesOf("-")
	victim := k.machinesOf("workers")[0]
	k.workloadClusterOf("1.34.0", "workers = { replicas = 3 }", fmt.Sprintf(`heal = { trigger = "one %d", machine_names = [%q] }`, n, victim))
	// The only write is the deletion of the machine.
	i := k.atWrite(n, 1)
	k.step("heal", n, i, func() {
		k.kill("heal", i, "apply", "-auto-approve")
		k.apply()
		k.machines("1.34.0", 3)
	})
	now := k.machinesOf("-")
	stayed := slices.DeleteFunc(slices.Clone(now), func(name string) bool { return !slices.Contains(before, name) })
	if len(now) != 4 || len(stayed) != 3 || slices.Contains(now, victim) {
		k.Errorf("%s was to be replaced: the machines were %v and are %v", victim, before, now)
	}
}

// removalOfMachines kills the removal of two of the three machines of the node group.
func (k *killer) removalOfMachines(n int) {
	k.Helper()
	workers := k.machinesOf("workers")
	slices.Sort(workers)
	k.workloadClusterOf("1.34.0", fmt.Sprintf("workers = { replicas = 1, scale_in_machine_names = [%q, %q] }", workers[0], workers[2]), "")
	// The mark, and the number of the group.
	i := k.atWrite(n+2, 3)
	k.step("removal", n, i, func() {
		k.kill("removal", i, "apply", "-auto-approve")
		k.apply()
		k.machines("1.34.0", 1)
	})
	if left := k.machinesOf("workers"); !slices.Equal(left, workers[1:2]) {
		k.Errorf("%s was to stay of %v, and there are %v", workers[1], workers, left)
	}
}
