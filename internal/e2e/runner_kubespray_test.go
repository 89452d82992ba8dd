//go:build unix

package e2e_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
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
	// vimID is the id of the VIM that the cluster is.
	vimID string
}

func newKubesprayEnv(t *testing.T, store string) *kubesprayEnv {
	t.Helper()
	env := &kubesprayEnv{openStackEnv: newOpenStackEnv(t)}
	env.name, env.source = "edge", acctest.CopyPackage(t, "kubernetes-cluster")
	env.cloud = labtest.OpenStackSystems(t, labtest.OpenStackAnsible, labtest.OpenStackDocker)
	env.ansible = env.cloud.NewServer(t, "ansible", labtest.OpenStackAnsibleImage, "net0")
	env.spray = kubespraytest.Install(t, env.ansible)
	env.useRunners(t, store)
	return env
}

// cluster configures a cluster of one master, and of so many workers beside the first. Where a store outlives the runners, the VIM that
// the cluster is must answer.
func (env *kubesprayEnv) cluster(level int) {
	env.Helper()
	vim := ""
	if !env.forgetful {
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
	env.write(env.provider(), env.vim(), pkg(env.source), fmt.Sprintf(`
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

// nodes checks that the servers are the nodes of the cluster, each once: the master and so many workers. Kubespray has installed one
// cluster, and has added those that came later.
func (env *kubesprayEnv) nodes(workers int) {
	env.Helper()
	master := addressOf(env.serversOf("masterNode")[0])
	want := []string{master}
	for _, s := range env.serversOf("workerNode") {
		want = append(want, addressOf(s))
	}
	require.Len(env, want, workers+1)
	got := labtest.Login(env, master).Root(env, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o 'jsonpath={.items[*].status.addresses[?(@.type==\"InternalIP\")].address}'")
	require.ElementsMatch(env, want, strings.Fields(got))
	runs := map[string]int{}
	for _, call := range env.spray.Calls(env) {
		runs[call.Playbook]++
	}
	require.Equal(env, 1, runs["cluster.yml"], "a cluster that lives was installed again: %v", runs)
	require.Equal(env, workers-1, runs["scale.yml"], "the playbooks ran %v", runs)
	vimID := env.resource(address).text("registered_vim_id")
	require.NotEmpty(env, vimID)
	require.Equal(env, cmp.Or(env.vimID, vimID), vimID)
	env.vimID = vimID
}

func addressOf(s *openstack.Server) string {
	for _, all := range s.Addresses {
		return all[0].Address
	}
	return ""
}

// TestAccRunners_kubespray leads a cluster of servers by kubespray through its life.
func TestAccRunners_kubespray(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, store string) *life {
		t.Helper()
		env := newKubesprayEnv(t, store)
		l := &life{
			env: env.testEnv, address: address,
			made:    func() { env.cluster(0) },
			changed: func() { env.cluster(1) },
			drift:   func() { env.lose("externalLB") },
			parts:   env.parts,
			check:   func(changed bool) { env.nodes(map[bool]int{false: 1, true: 2}[changed]) },
			gone: func() {
				env.expectGone()
				require.Empty(t, strings.TrimSpace(env.ansible.Root(t, "ls -A %s", inventoryRoot)))
			},
		}
		if env.forgetful {
			l.destroyed = func() { env.destroyLost(l) }
		}
		return l
	})
}

// destroyLost destroys where no store lasts. A plan takes the passwords of the servers from the configuration. Its apply on another runner
// lacks them: nothing goes. A plan without a change is enough for the destroy that follows on the same runner.
func (env *kubesprayEnv) destroyLost(l *life) {
	env.Helper()
	all := env.parts()
	env.expectExit(0, "plan", "-destroy", "-out=plan")
	l.moveOn("plan")
	env.expectOutput(env.expectExit(1, "apply", "plan"), "nothing was removed", "run terraform apply once, which takes these parameters from the configuration, then destroy")
	require.Equal(env, all, env.parts())
	env.nodes(2)
	l.moveOn()
	env.expectOutput(env.apply(), "0 added, 0 changed, 0 destroyed")
	env.expectExit(0, "destroy", "-auto-approve", "-refresh=false")
}
