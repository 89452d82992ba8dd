package e2e_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// inventoryRoot is where the Ansible server has the inventories of clusters.
const inventoryRoot = "/home/ubuntu/inventory"

// kubesprayEnv is a project of an OpenStack with an Ansible server that has kubespray.
type kubesprayEnv struct {
	*openStackEnv
	ansible *labtest.Shell
	spray   kubespraytest.Host
	// stored says that the store outlives a runner, and with it the VIM that the cluster is.
	stored bool
}

func newKubesprayEnv(t *testing.T, name string) *kubesprayEnv {
	t.Helper()
	env := &kubesprayEnv{openStackEnv: newOpenStackEnv(t), stored: name != "none"}
	env.cloud = labtest.OpenStackSystems(t, labtest.OpenStackAnsible, labtest.OpenStackDocker)
	env.ansible = env.cloud.NewServer(t, "ansible", labtest.OpenStackAnsibleImage, "net0")
	env.spray = kubespraytest.Install(t, env.ansible)
	env.useRunners(t, name)
	return env
}

// workers configures a cluster of one master, and of so many workers besides the first.
func (env *kubesprayEnv) workers(level int) {
	env.Helper()
	vim := ""
	if env.stored {
		vim = `
data "vnf_vim" "edge" {
  id = vnf_instance.test.registered_vim_id
  lifecycle {
    postcondition {
      condition     = self.status == "REACHABLE"
      error_message = "The VIM that the cluster is: ${self.status}."
    }
  }
}
`
	}
	image := env.cloud.Images[labtest.OpenStackDockerImage]
	env.write(env.provider(), env.vim(), pkg(acctest.ExamplePackage(env, "kubernetes-cluster")), fmt.Sprintf(`
resource "vnf_instance" "test" {
  name         = "edge"
  vim_id       = vnf_vim.test.id
  package_id   = vnf_package.test.id
  flavour_id   = "simple"
  scale_levels = { worker_instance = %[1]d }
  ext_virtual_links = {
    masters  = { resource_id = %[2]q, ext_cps = { masterNode_CP1 = {} } }
    workers  = { resource_id = %[2]q, ext_cps = { workerNode_CP2 = {} } }
    balancer = { resource_id = %[2]q, ext_cps = { externalLB_CP1 = {} } }
  }
  additional_params = {
    nfv = { VDU = { masterNode = { vcImageId = %[3]q }, workerNode = { vcImageId = %[3]q } } }
    k8s_cluster_installation_param = {
      vim_name = "edge"
      ansible = {
        ip_address                  = %[4]q
        username                    = "ubuntu"
        kubespray_root_path         = %[5]q
        transferring_inventory_path = "%[6]s/edge"
      }
      master_node = { aspect_id = "master_instance", ssh_cp_name = "masterNode_CP1", username = "ubuntu", cluster_cp_name = "masterNode_CP1" }
      worker_node = { aspect_id = "worker_instance", ssh_cp_name = "workerNode_CP2", username = "ubuntu" }
    }
  }
  additional_params_wo = {
    k8s_cluster_installation_param = {
      ansible     = { password = "ubuntu" }
      master_node = { password = "ubuntu" }
      worker_node = { password = "ubuntu" }
    }
  }
}
`, level, env.cloud.Networks["net0"], image, env.ansible.Address, kubespraytest.Root, inventoryRoot), vim)
}

// expectNodes checks that the servers are the nodes of the cluster, each once, that the master and so many workers are there, and
// that kubespray has installed one cluster and has added workers one time for each that came later.
func (env *kubesprayEnv) expectNodes(workers int) {
	env.Helper()
	servers, err := env.client.Servers(env.Context())
	require.NoError(env, err)
	var want []string
	master := ""
	for _, s := range servers {
		for _, addresses := range s.Addresses {
			switch {
			case strings.Contains(s.Name, "masterNode"):
				master = addresses[0].Address
				want = append(want, master)
			case strings.Contains(s.Name, "workerNode"):
				want = append(want, addresses[0].Address)
			}
		}
	}
	require.Len(env, want, workers+1)
	shell := labtest.Login(env, master)
	nodes := strings.Fields(shell.Root(env, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o 'jsonpath={.items[*].status.addresses[?(@.type==\"InternalIP\")].address}'"))
	require.ElementsMatch(env, want, nodes)
	runs := map[string]int{}
	for _, call := range env.spray.Calls(env) {
		runs[call.Playbook]++
	}
	require.Equal(env, 1, runs["cluster.yml"], "a cluster that lives was installed again: %v", runs)
	require.Equal(env, workers-1, runs["scale.yml"], "%v", runs)
}

// expectVIM checks that the store of this runner has the cluster as the VIM of an id.
func (env *kubesprayEnv) expectVIM(id string) {
	env.Helper()
	require.NotEmpty(env, id)
	require.Equal(env, id, env.resource(address).text("registered_vim_id"))
	require.True(env, slices.ContainsFunc(env.list(store.KindVIM), func(r store.Record) bool { return r.ID == id }), "the store has no VIM %s", id)
}

// TestAccRunners_kubespray leads a cluster of servers by kubespray through its life, each step on a new runner. Without a store that
// lasts a destroy lacks the passwords of the servers, says so before anything goes, and succeeds after an apply on the same runner.
// It takes minutes and runs only with VNF_RUNNERS=all.
func TestAccRunners_kubespray(t *testing.T) {
	t.Parallel()
	if os.Getenv(envRunners) != "all" {
		t.Skip("a cluster by kubespray on runners takes minutes: set VNF_RUNNERS=all")
	}
	for _, name := range runnerStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newKubesprayEnv(t, name)
			env.workers(0)
			env.applyOnNext()
			id, vim, small := env.resource(address).text("id"), env.resource(address).text("registered_vim_id"), env.servers()
			env.expectVIM(vim)
			env.expectNodes(1)
			env.nextRunner()
			env.expectEmptyPlan()

			env.nextRunner()
			env.workers(1)
			env.applyOnNext()
			env.expectKept(small)
			env.expectVIM(vim)
			env.expectNodes(2)
			env.nextRunner()
			env.expectEmptyPlan()
			env.expectNodes(2)
			require.Equal(t, id, env.resource(address).text("id"))

			env.nextRunner()
			if env.stored {
				env.applyOnNext("-destroy")
			} else {
				env.destroyAfterApply()
			}
			env.expectGone(id)
			require.Empty(t, strings.TrimSpace(env.ansible.Root(t, "ls -A %s", inventoryRoot)))
		})
	}
}

// destroyAfterApply destroys where no store lasts: nothing goes as long as the passwords are missing, which an apply gives.
func (env *kubesprayEnv) destroyAfterApply() {
	env.Helper()
	all := env.servers()
	env.expectOutput(env.expectExit(1, "destroy", "-auto-approve"), "nothing was removed", "run terraform apply once, which takes these parameters from the configuration, then destroy")
	require.Equal(env, all, env.servers())
	env.expectNodes(2)
	env.nextRunner()
	env.expectOutput(env.apply(), "0 added, 0 changed, 0 destroyed")
	env.expectNodes(2)
	env.destroy()
}
