package instance_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clusterScriptEnv is a cloud for servers that become a Kubernetes cluster, with the host of a
// registry that its nodes use.
type clusterScriptEnv struct {
	*cloud
	registry *labtest.Shell
	// secure, when set, has the registry speak HTTPS and ask for a login, under a name that /etc/hosts of the nodes gets. Its
	// authority is a file of the package.
	secure *secureRegistry
	// balancer are parameters of the load balancer, and virtual the address that several share.
	balancer, virtual string
	// drain is how long draining a node may take, 20 seconds without it.
	drain string
}

// secureRegistry are the certificates of a registry in PEM.
type secureRegistry struct{ authority, certificate, key string }

// The registry over HTTPS, as nodes know it.
const (
	secureServer      = "registry.example.com:5000"
	secureUser        = "nodes"
	securePassword    = "planted-registry-password"
	secureCertificate = "Files/registries/ca.crt"
)

// useHTTPS has the registry speak HTTPS, and puts its authority into a package.
func (k *clusterScriptEnv) useHTTPS(t *testing.T, dir string) {
	t.Helper()
	k.secure = &secureRegistry{}
	k.secure.authority, k.secure.certificate, k.secure.key = registrytest.Certificates(t, "registry.example.com")
	acctest.Write(t, dir, secureCertificate, k.secure.authority)
	acctest.Hash(t, dir)
}

// connection is how nodes use the registry, and what of that is secret.
func (k *clusterScriptEnv) connection() (plain, secret string) {
	if k.registry == nil {
		return "", ""
	}
	if k.secure == nil {
		return `{ connection_type = "0", server = vnf_private_registry.registry.server }`, ""
	}
	return fmt.Sprintf(`{ connection_type = "1", server = %q, username = %q, certificate_path = %q, hosts_string = "${vnf_private_registry.registry.address} registry.example.com" }`,
			secureServer, secureUser, secureCertificate),
		fmt.Sprintf("private_registry_connection_info = [{ password = %q }]", securePassword)
}

// sample is the image that nodes pull.
func (k *clusterScriptEnv) sample() string {
	if k.secure == nil {
		return k.registry.Address + ":5000/sample:1"
	}
	return secureServer + "/sample:1"
}

func newClusterScriptEnv(t *testing.T, systems ...string) *clusterScriptEnv {
	t.Helper()
	k := &clusterScriptEnv{cloud: newCloud(t), balancer: "node_ports = [30080]"}
	k.openstack = labtest.OpenStackSystems(t, append(systems, labtest.OpenStackDocker)...)
	k.registry = k.openstack.NewServer(t, "registry", labtest.OpenStackDockerImage, "net0")
	return k
}

// cluster is one of the example package, or a copy, that uses the registry; the driver may
// have parameters and secrets of its own.
func (k *clusterScriptEnv) cluster(source, params, secrets string, arguments ...string) string {
	net0 := k.openstack.Networks["net0"]
	connection, password := k.connection()
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
      external_lb_param = { ssh_cp_name = "externalLB_CP1", ssh_username = "ubuntu", %s }
      drain_timeout     = %q
      private_registry_connection_info = [%s]
    }
  }`, k.image(labtest.OpenStackDockerImage, "masterNode", "workerNode", "externalLB"), params, k.balancer, cmp.Or(k.drain, "20s"), connection)
	secrets = fmt.Sprintf(`additional_params_wo = {
    k8s_cluster_installation_param = {
      %s
      %s
      master_node       = { password = "ubuntu" }
      worker_node       = { password = "ubuntu" }
      external_lb_param = { ssh_password = "ubuntu" }
    }
  }`, secrets, password)
	return k.configFor(source, "simple", links, append(arguments, params, secrets)...)
}

// withImage is a configuration in which VDUs have another image.
func (k *clusterScriptEnv) withImage(config, id string, vdus ...string) string {
	for _, vdu := range vdus {
		before := fmt.Sprintf("%s = { vcImageId = %q }", vdu, k.openstack.Images[labtest.OpenStackDockerImage])
		if !strings.Contains(config, before) {
			k.Fatalf("the configuration has no %s", before)
		}
		config = strings.Replace(config, before, fmt.Sprintf("%s = { vcImageId = %q }", vdu, id), 1)
	}
	return config
}

// hasImage checks the image of the servers of a VDU.
func (k *clusterScriptEnv) hasImage(t *testing.T, vdu, id string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		servers, err := k.client.Servers(context.WithoutCancel(t.Context()))
		if err != nil {
			return err
		}
		for _, v := range k.vnfcs()[vdu] {
			if server := servers[strings.TrimPrefix(v.ID, vdu+"-")]; server == nil || !strings.Contains(string(server.Image), id) {
				return fmt.Errorf("VNFC %s does not have image %s: %+v", v.ID, id, server)
			}
		}
		return nil
	}
}

// connected is the registry.
func (k *clusterScriptEnv) connected() string {
	secured := ""
	if k.secure != nil {
		secured = fmt.Sprintf(`users_wo         = { %s = %q }
  users_wo_version = 1
  tls              = { certificate = %q, key_wo = %q, key_wo_version = 1 }`, secureUser, securePassword, k.secure.certificate, k.secure.key)
	}
	return fmt.Sprintf(`
resource "vnf_private_registry" "registry" {
  host       = %q
  image_path = %q
  ssh        = { username = "ubuntu", password_wo = "ubuntu", password_wo_version = 1 }
  %s
}
`, k.registry.Address, k.openstack.RegistryArchive, secured)
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

// checkBackend checks the nodes that the cluster has by its own API, that each of them is connected to the registry and pulls from it, and
// that the load balancers pass connections on to these servers and no others.
func (k *clusterScriptEnv) checkBackend(t *testing.T, nodes ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		masters, workers := k.shells(t, "masterNode"), k.shells(t, "workerNode")
		got := strings.Fields(masters[0].Root(t, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o name | sed s,node/,,"))
		slices.Sort(got)
		if !slices.Equal(got, nodes) {
			return fmt.Errorf("the cluster has nodes %v, not %v", got, nodes)
		}
		server, _, _ := strings.Cut(k.sample(), "/")
		for _, s := range append(workers, masters...) {
			if _, err := s.Try(t.Context(), fmt.Sprintf("grep -q %s /var/lib/terraform-provider-vnf/registries.json && docker pull -q %s", server, k.sample())); err != nil {
				return fmt.Errorf("%s cannot pull: %w", s.Address, err)
			}
		}
		return k.passedOn(t)
	}
}

// only checks how many servers there are of each VDU, and that the nodes of the cluster are at the addresses of those of masters and workers.
func (k *clusterScriptEnv) only(t *testing.T, counts map[string]int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var want []string
		for vdu, n := range counts {
			all := k.vnfcs()[vdu]
			if len(all) != n {
				return fmt.Errorf("VDU %s has %d servers, not %d", vdu, len(all), n)
			}
			for _, v := range all {
				if vdu != "externalLB" {
					want = append(want, v.Addresses[0])
				}
			}
		}
		got := strings.Fields(k.shells(t, "masterNode")[0].Root(t,
			`lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o 'jsonpath={range .items[*].status.addresses[?(@.type=="InternalIP")]}{.address} {end}'`))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Errorf("the nodes are at %v, and the servers at %v", got, want)
		}
		return nil
	}
}

// push puts an image into the registry that nodes pull.
func (k *clusterScriptEnv) push(t *testing.T) {
	t.Helper()
	if k.secure == nil {
		k.registry.Root(t, "mkdir -p /etc/docker && echo '{\"insecure-registries\": [\"%[1]s:5000\"]}' > /etc/docker/daemon.json && systemctl reload docker", k.registry.Address)
	} else {
		k.registry.Root(t, "echo '%[1]s registry.example.com' >>/etc/hosts && mkdir -p /etc/docker/certs.d/%[2]s && echo '%[3]s' >/etc/docker/certs.d/%[2]s/ca.crt && echo %[4]s | docker login -u %[5]s --password-stdin %[2]s",
			k.registry.Address, secureServer, k.secure.authority, securePassword, secureUser)
	}
	k.registry.Upload(t, k.openstack.SampleArchive, "/root/sample.tar")
	k.registry.Root(t, "docker load -q -i /root/sample.tar && docker tag sample:latest %[1]s && docker push -q %[1]s", k.sample())
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

// allNodes checks that the cluster has as many nodes as the instance has servers for them.
func (k *clusterScriptEnv) allNodes(t *testing.T) resource.TestCheckFunc {
	t.Helper()
	return func(state *terraform.State) error {
		return k.nodes(t, len(k.vnfcs()["masterNode"])+len(k.vnfcs()["workerNode"]))(state)
	}
}

// pushed has the registry an image, see push.
func (k *clusterScriptEnv) pushed(t *testing.T) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error { k.push(t); return nil }
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
