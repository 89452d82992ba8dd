package instance_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// kubesprayed is a cloud with an Ansible server that has kubespray, and the host of a
// registry.
type kubesprayed struct {
	*cloud
	ansible, registry *labtest.Shell
	spray             kubespraytest.Host
}

const inventoryPath = "/home/ubuntu/inventory/edge"

func newKubesprayed(t *testing.T) *kubesprayed {
	t.Helper()
	k := &kubesprayed{cloud: newCloud(t)}
	k.env = labtest.OpenStackSystems(t, labtest.OpenStackDocker, labtest.OpenStackAnsible)
	k.ansible = k.env.NewServer(t, "ansible", labtest.OpenStackAnsibleImage, "net0")
	k.registry = k.env.NewServer(t, "registry", labtest.OpenStackDockerImage, "net0")
	k.spray = kubespraytest.Install(t, k.ansible)
	return k
}

// config is a registry and a cluster that uses it.
func (k *kubesprayed) config(arguments ...string) string {
	return k.configOf(func(text string) string { return text }, arguments...)
}

func (k *kubesprayed) configOf(edit func(string) string, arguments ...string) string {
	net0 := k.env.Networks["net0"]
	links := fmt.Sprintf(`ext_virtual_links = {
    masters  = { resource_id = %[1]q, ext_cps = { masterNode_CP1 = {} } }
    workers  = { resource_id = %[1]q, ext_cps = { workerNode_CP2 = {} } }
    balancer = { resource_id = %[1]q, ext_cps = { externalLB_CP1 = {} } }
  }`, net0)
	params := fmt.Sprintf(`additional_params = {
    %s
    k8s_cluster_installation_param = {
      vim_name = "edge"
      ansible = {
        ip_address                  = %q
        username                    = "ubuntu"
        kubespray_root_path         = %q
        transferring_inventory_path = %q
      }
      master_node = {
        aspect_id = "master_instance", ssh_cp_name = "masterNode_CP1", nic_cp_name = "masterNode_CP1", username = "ubuntu"
        pod_cidr = "10.233.64.0/18", cluster_cidr = "10.233.0.0/18", cluster_cp_name = "masterNode_CP1"
      }
      worker_node       = { aspect_id = "worker_instance", ssh_cp_name = "workerNode_CP2", nic_cp_name = "workerNode_CP2", username = "ubuntu" }
      external_lb_param = { ssh_cp_name = "externalLB_CP1", ssh_username = "ubuntu", node_ports = [30080] }
      drain_timeout     = "20s"
      private_registry_connection_info = [
        { connection_type = "0", server = vnf_private_registry.registry.server },
      ]
    }
  }`, k.image(labtest.OpenStackDockerImage, "masterNode", "workerNode", "externalLB"), k.ansible.Address, kubespraytest.Root, inventoryPath)
	secrets := `additional_params_wo = {
    k8s_cluster_installation_param = {
      ansible           = { password = "ubuntu" }
      master_node       = { password = "ubuntu" }
      worker_node       = { password = "ubuntu" }
      external_lb_param = { ssh_password = "ubuntu" }
    }
  }`
	return edit(k.over(examplePackage(k, "kubernetes-cluster"), "simple", links, append(arguments, params, secrets)...)) + fmt.Sprintf(`
resource "vnf_private_registry" "registry" {
  host       = %q
  image_path = %q
  ssh        = { username = "ubuntu", password_wo = "ubuntu", password_wo_version = 1 }
}

data "vnf_vim" "edge" {
  id         = vnf_instance.test.registered_vim_id
  depends_on = [vnf_instance.test]
}
`, k.registry.Address, k.env.RegistryArchive)
}

// shells are sessions on the servers of a VDU.
func (k *kubesprayed) shells(t *testing.T, vdu string) []*labtest.Shell {
	t.Helper()
	var out []*labtest.Shell
	for _, v := range k.vnfcs()[vdu] {
		out = append(out, labtest.Login(t, v.Addresses[0]))
	}
	return out
}

// whole checks the nodes that the cluster has by its own API, that each of them pulls from
// the registry, and that the load balancer knows the masters.
func (k *kubesprayed) whole(t *testing.T, nodes ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		master := k.shells(t, "masterNode")[0]
		got := strings.Fields(master.Root(t, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o name | sed s,node/,,"))
		slices.Sort(got)
		if !slices.Equal(got, nodes) {
			return fmt.Errorf("the cluster has nodes %v, not %v", got, nodes)
		}
		for _, s := range append(k.shells(t, "workerNode"), master) {
			image := k.registry.Address + ":5000/sample:1"
			if _, err := s.Try(t.Context(), "docker pull -q "+image); err != nil {
				return fmt.Errorf("%s cannot pull: %w", s.Address, err)
			}
		}
		balancer := k.shells(t, "externalLB")[0]
		config := balancer.Root(t, "cat /etc/haproxy/haproxy.cfg")
		for _, node := range nodes {
			if !strings.Contains(config, " "+node+" ") {
				return fmt.Errorf("the load balancer does not know %s:\n%s", node, config)
			}
		}
		if n := strings.Count(config, "server worker"); n != len(nodes)-1 {
			return fmt.Errorf("the load balancer has %d workers", n)
		}
		return nil
	}
}

// push puts an image into the registry that nodes pull.
func (k *kubesprayed) push(t *testing.T) {
	t.Helper()
	k.registry.Root(t, "mkdir -p /etc/docker && echo '{\"insecure-registries\": [\"%[1]s:5000\"]}' > /etc/docker/daemon.json && systemctl reload docker", k.registry.Address)
	k.registry.Upload(t, k.env.SampleArchive, "/root/sample.tar")
	k.registry.Root(t, "docker load -q -i /root/sample.tar && docker tag sample:latest %[1]s:5000/sample:1 && docker push -q %[1]s:5000/sample:1", k.registry.Address)
}

// A cluster of servers is made by kubespray, has a load balancer, pulls from a registry of
// the same apply, is scaled and healed, and goes.
func TestAccInstance_openStackKubespray(t *testing.T) {
	k := newKubesprayed(t)
	var vim string
	same := resource.TestCheckResourceAttrWith("vnf_instance.test", "registered_vim_id", func(id string) error {
		if vim == "" {
			vim = id
		}
		if vim != id {
			return fmt.Errorf("the VIM is %s, and was %s", id, vim)
		}
		return nil
	})
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	worker := ""
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy: func(*terraform.State) error {
			if out, _ := k.ansible.Try(t.Context(), "ls -A /home/ubuntu/inventory"); strings.TrimSpace(out) != "" {
				return fmt.Errorf("the Ansible server still has %s", out)
			}
			return nil
		},
		Steps: []resource.TestStep{
			{
				Config: k.config(),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("vnf_instance.test", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
					statecheck.ExpectKnownValue("data.vnf_vim.edge", tfjsonpath.New("status"), knownvalue.StringExact("REACHABLE")),
				},
				Check:            resource.ComposeTestCheckFunc(same, func(*terraform.State) error { k.push(t); return nil }, k.whole(t, "master1", "worker1"), k.closed(t)),
				ConfigPlanChecks: empty,
			},
			{
				Config:           k.config("scale_levels = { worker_instance = 1 }"),
				Check:            resource.ComposeTestCheckFunc(same, k.whole(t, "master1", "worker1", "worker2"), k.called(t, "scale.yml", "worker2")),
				ConfigPlanChecks: empty,
			},
			{
				Config:           k.config("scale_levels = { worker_instance = 0 }"),
				Check:            resource.ComposeTestCheckFunc(same, k.called(t, "remove-node.yml", ""), k.nodes(t, 2)),
				ConfigPlanChecks: empty,
			},
			{
				PreConfig: func() { worker = k.vnfcs()["workerNode"][0].ID },
				Config:    k.config(`scale_levels = { worker_instance = 0 }`, `heal = { trigger = "worker", vdu_ids = ["workerNode"] }`),
				Check: resource.ComposeTestCheckFunc(same, k.nodes(t, 2), func(*terraform.State) error {
					if now := k.vnfcs()["workerNode"][0].ID; now == worker {
						return fmt.Errorf("the worker is the same, %s", now)
					}
					return nil
				}),
				ConfigPlanChecks: empty,
			},
			{
				Config:           k.config(`scale_levels = { worker_instance = 0 }`, `heal = { trigger = "all" }`),
				Check:            resource.ComposeTestCheckFunc(same, k.whole(t, "master1", "worker1")),
				ConfigPlanChecks: empty,
			},
		},
	})
}

// nodes checks how many nodes there are, and that the load balancer has as many.
func (k *kubesprayed) nodes(t *testing.T, want int) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		master := k.shells(t, "masterNode")[0]
		got := strings.Fields(master.Root(t, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o name | sed s,node/,,"))
		if len(got) != want {
			return fmt.Errorf("the cluster has nodes %v, not %d", got, want)
		}
		slices.Sort(got)
		return k.whole(t, got...)(state)
	}
}

// called checks that a playbook was run last for some nodes.
func (k *kubesprayed) called(t *testing.T, playbook, limit string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		for _, call := range k.spray.Calls(t) {
			if call.Playbook == playbook && call.Limit == limit {
				return nil
			}
		}
		return fmt.Errorf("%s was not run for %q: %+v", playbook, limit, k.spray.Calls(t))
	}
}

// closed checks that nobody but the user can read what the Ansible server has of the
// cluster.
func (k *kubesprayed) closed(t *testing.T) resource.TestCheckFunc {
	return func(*terraform.State) error {
		out := strings.TrimSpace(k.ansible.Root(t, "find %s -perm /077 | head -n 3; ls -d /tmp/vnf-* /tmp/tmp.* 2>/dev/null || true", path.Dir(inventoryPath)))
		if out != "" {
			return fmt.Errorf("others can read %s", out)
		}
		return nil
	}
}
