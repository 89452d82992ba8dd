package instance_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clusterScriptEnv is a cloud for servers that become a Kubernetes cluster, with the host of a
// registry that its nodes use.
type clusterScriptEnv struct {
	*cloud
	registry *labtest.Shell
}

func newClusterScriptEnv(t *testing.T, systems ...string) *clusterScriptEnv {
	t.Helper()
	k := &clusterScriptEnv{cloud: newCloud(t)}
	k.openstack = labtest.OpenStackSystems(t, append(systems, labtest.OpenStackDocker)...)
	k.registry = k.openstack.NewServer(t, "registry", labtest.OpenStackDockerImage, "net0")
	return k
}

// cluster is one of the example package, or a copy, that uses the registry; the driver may
// have parameters and secrets of its own.
func (k *clusterScriptEnv) cluster(source, params, secrets string, arguments ...string) string {
	net0 := k.openstack.Networks["net0"]
	links := fmt.Sprintf(`ext_virtual_links = {
    masters  = { resource_id = %[1]q, ext_cps = { masterNode_CP1 = {} } }
    workers  = { resource_id = %[1]q, ext_cps = { workerNode_CP2 = {} } }
    balancer = { resource_id = %[1]q, ext_cps = { externalLB_CP1 = {} } }
  }`, net0)
	params = fmt.Sprintf(`additional_params = {
    %s
    k8s_cluster_installation_param = {
      vim_name = "edge"
      %s
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
  }`, k.image(labtest.OpenStackDockerImage, "masterNode", "workerNode", "externalLB"), params)
	secrets = fmt.Sprintf(`additional_params_wo = {
    k8s_cluster_installation_param = {
      %s
      master_node       = { password = "ubuntu" }
      worker_node       = { password = "ubuntu" }
      external_lb_param = { ssh_password = "ubuntu" }
    }
  }`, secrets)
	return k.configFor(source, "simple", links, append(arguments, params, secrets)...)
}

// connected is the registry.
func (k *clusterScriptEnv) connected() string {
	return fmt.Sprintf(`
resource "vnf_private_registry" "registry" {
  host       = %q
  image_path = %q
  ssh        = { username = "ubuntu", password_wo = "ubuntu", password_wo_version = 1 }
}
`, k.registry.Address, k.openstack.RegistryArchive)
}

// vim reads the VIM that the cluster is.
const vim = `
data "vnf_vim" "edge" {
  id         = vnf_instance.test.registered_vim_id
  depends_on = [vnf_instance.test]
}
`

// shells are sessions on the servers of a VDU.
func (k *clusterScriptEnv) shells(t *testing.T, vdu string) []*labtest.Shell {
	t.Helper()
	var out []*labtest.Shell
	for _, v := range k.vnfcs()[vdu] {
		out = append(out, labtest.Login(t, v.Addresses[0]))
	}
	return out
}

// checkBackend checks the nodes that the cluster has by its own API, that each of them pulls from
// the registry, and that the load balancer knows the masters.
func (k *clusterScriptEnv) checkBackend(t *testing.T, nodes ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		master := k.shells(t, "masterNode")[0]
		got := strings.Fields(master.Root(t, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o name | sed s,node/,,"))
		slices.Sort(got)
		if !slices.Equal(got, nodes) {
			return fmt.Errorf("the cluster has nodes %v, not %v", got, nodes)
		}
		for _, s := range append(k.shells(t, "workerNode"), k.shells(t, "masterNode")...) {
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
		if n := strings.Count(config, "server worker"); n != len(k.vnfcs()["workerNode"]) {
			return fmt.Errorf("the load balancer has %d workers", n)
		}
		return nil
	}
}

// push puts an image into the registry that nodes pull.
func (k *clusterScriptEnv) push(t *testing.T) {
	t.Helper()
	k.registry.Root(t, "mkdir -p /etc/docker && echo '{\"insecure-registries\": [\"%[1]s:5000\"]}' > /etc/docker/daemon.json && systemctl reload docker", k.registry.Address)
	k.registry.Upload(t, k.openstack.SampleArchive, "/root/sample.tar")
	k.registry.Root(t, "docker load -q -i /root/sample.tar && docker tag sample:latest %[1]s:5000/sample:1 && docker push -q %[1]s:5000/sample:1", k.registry.Address)
}

// nodes checks how many nodes there are, and that the load balancer has as many.
func (k *clusterScriptEnv) nodes(t *testing.T, want int) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		master := k.shells(t, "masterNode")[0]
		got := strings.Fields(master.Root(t, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o name | sed s,node/,,"))
		if len(got) != want {
			return fmt.Errorf("the cluster has nodes %v, not %d", got, want)
		}
		slices.Sort(got)
		return k.checkBackend(t, got...)(state)
	}
}

// same checks that the cluster is the VIM that it was at the first call.
func (k *clusterScriptEnv) same() resource.TestCheckFunc {
	id := ""
	return resource.TestCheckResourceAttrWith("vnf_instance.test", "registered_vim_id", func(now string) error {
		if id == "" {
			id = now
		}
		if id != now {
			return fmt.Errorf("the VIM is %s, and was %s", now, id)
		}
		return nil
	})
}

// gone checks that the VNFCs whose ids a file holds are others now.
func (k *clusterScriptEnv) gone(t *testing.T, file string) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		ids, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading which VNFCs were healed: %w", err)
		}
		for id := range strings.FieldsSeq(string(ids)) {
			for _, all := range k.vnfcs() {
				if slices.ContainsFunc(all, func(v vnfm.VNFC) bool { return v.ID == id }) {
					return fmt.Errorf("VNFC %s is the same", id)
				}
			}
		}
		return nil
	}
}
