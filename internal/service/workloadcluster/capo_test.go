package workloadcluster_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// labCloudVIM is a vnf_vim "cloud" for a user of the lab's OpenStack.
func labCloudVIM(cloud labtest.OpenStackEnv, user labtest.OpenStackUser) string {
	return fmt.Sprintf(`
resource "vnf_vim" "cloud" {
  name = "cloud"
  openstack = {
    auth_url            = %q
    region              = %q
    username            = %q
    password_wo         = %q
    password_wo_version = 1
    project_name        = %q
    user_domain_name    = %[6]q
    project_domain_name = %[6]q
  }
}
`, cloud.AuthURL, cloud.Region, user.Name, user.Password, user.Project, cloud.Domain)
}

// TestAccWorkloadCluster_capo makes a cluster of the embedded chart for OpenStack with the
// real Cluster API Provider OpenStack, over real Keystone, Nova, Neutron and Glance, and an
// application credential of its own. It gets as far as the server of its control plane: the
// servers of its image have no kubeadm, so that the API of the cluster never answers. What
// there is goes with the cluster.
func TestAccWorkloadCluster_capo(t *testing.T) {
	cloud := labtest.OpenStackCompute(t)
	env := newEnv(t)
	user := cloud.NewProject(t)
	client, err := openstack.New(openstack.Config{
		VIM: "cloud",
		Connection: vnfm.OpenStackConnection{
			AuthURL: cloud.AuthURL, Region: cloud.Region, Username: user.Name, UserDomainName: cloud.Domain, ProjectName: user.Project, ProjectDomainName: cloud.Domain,
		},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(user.Password)},
	})
	require.NoError(t, err)
	config := env.config(fmt.Sprintf(`
  kubernetes_version = "1.33.1"
  chart = {
    name = "openstack"
    values = [yamlencode({
      machineImage      = "ubuntu-2204-kube-v1.33.1"
      clusterNetworking = { externalNetworkId = %q }
      apiServer         = { enableLoadBalancer = false, associateFloatingIP = false, fixedIP = "192.168.3.10" }
      autoscaler        = { enabled = true }
    })]
  }
  control_plane = { replicas = 1, flavor = "m1.medium" }
  node_groups   = { workers = { replicas = 1, flavor = "m1.small" } }
  openstack     = { vim_id = vnf_vim.cloud.id, application_credential = {} }
  on_failure    = "resume"
  timeouts      = { create = "20s" }
`, cloud.Networks["public"]), labCloudVIM(cloud, user))
	servers := func() map[string]*openstack.Server {
		all, err := client.Servers(t.Context())
		require.NoError(t, err)
		return all
	}
	env.run(t,
		resource.TestStep{
			Config:             config,
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{status("FAILED_TEMP")},
			Check: func(*terraform.State) error {
				var last string
				for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
					for _, s := range servers() {
						last = fmt.Sprintf("server %s is %s", s.Name, s.Status)
						if strings.HasPrefix(s.Name, "edge-control-plane-") && s.Status == openstack.ServerActive {
							return nil
						}
					}
					select {
					case <-t.Context().Done():
						return t.Context().Err()
					case <-time.After(time.Second):
					}
				}
				return fmt.Errorf("no server of the control plane: %s\n%s", last, env.kubectl("get", "openstackclusters,openstackmachines,openstackservers,machines", "-o", "yaml"))
			},
		},
		resource.TestStep{
			// A cluster that does not come up reports its progress.
			Config:             strings.Replace(config, `create = "20s"`, `update = "20s"`, 1),
			ExpectError:        acctest.Says(`(?s)edge-control-plane.*`),
			ExpectNonEmptyPlan: true,
		},
	)
	require.Empty(t, servers())
	require.Empty(t, env.kubectl("get", "deployments,roles,rolebindings", "-o", "name", "--ignore-not-found"))
}

// TestAccWorkloadCluster_capoPlans has plans ask the real Keystone, Nova, Neutron and Glance
// for what a cluster names there. Nothing but the VIMs is ever made.
func TestAccWorkloadCluster_capoPlans(t *testing.T) {
	cloud := labtest.OpenStackCompute(t)
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	user := cloud.NewProject(t)
	cloud.NewKeypair(t, user, "ops")
	nodes := cloud.NewNetwork(t, user, "twin", "10.79.0.0/24")
	cloud.NewNetwork(t, user, "twin", "10.79.1.0/24")
	// One of the project's own beside the external one of the same name.
	cloud.NewNetwork(t, user, "public", "10.79.2.0/24")
	const least = `
  kubernetes_version = "1.33.1"
  chart = {
    name   = "openstack"
    values = [yamlencode({ machineImage = "ubuntu-2204-kube-v1.33.1", machineSSHKeyName = "ops" })]
  }
  labels        = { cni = "elsewhere" }
  network       = { external = { name = "public" } }
  control_plane = { replicas = 1, flavor = "m1.medium" }
  node_groups   = { workers = { replicas = 2, flavor = "m1.medium" } }
  openstack     = { vim_id = vnf_vim.cloud.id, application_credential = {} }
`
	const lost = "00000000-0000-0000-0000-000000000000"
	const byName = "Check the name, unless the same apply makes it: without it no machine comes up."
	const byID = " in the OpenStack: Check the id, and that the project may see it."
	const elsewhere = "If it is installed otherwise, ignore this, or set labels of the cluster by which a ClusterResourceSet, a HelmChartProxy or another tool selects it: there is no warning then."
	const above = "Nova refuses what is above the quota, unless it is raised or others are gone by then."
	steps := []resource.TestStep{{
		// Only a VIM that is registered is asked.
		Config: env.store.Config(acctest.VIM(t, env.lab, "test"), labCloudVIM(cloud, user)),
	}}
	cases := []struct {
		name string
		// changes are texts of the configuration, each with what is in its place.
		changes []string
		// prepare, when set, changes the cloud before.
		prepare func()
		// diagnostics is all that the plan says.
		diagnostics []string
	}{
		{
			// Its subnet has the name of one of another network, and the external network
			// that of an internal one.
			name:    "all is there",
			changes: []string{`"public"`, fmt.Sprintf(`"public" }, internal = { id = %q }, internal_subnet = { name = "twin"`, nodes)},
		},
		{
			// An object that is given by name may be made by the same apply.
			name: "not there by name",
			changes: []string{
				`"ops"`, `"lost-key"`, `"ubuntu-2204-kube-v1.33.1"`, `"lost-image"`, `1, flavor = "m1.medium"`, `1, flavor = "lost-flavor"`,
				`2, flavor = "m1.medium"`, `2, flavor = "lost-worker"`, `"public"`, `"net0" }, internal = { name = "lost-network"`,
			},
			diagnostics: []string{
				`WARNING network.external: There is no external network "net0" in the OpenStack: ` + byName,
				`WARNING network.internal: There is no network "lost-network" in the OpenStack: ` + byName,
				`WARNING control_plane.flavor: There is no flavor "lost-flavor" in the OpenStack: ` + byName,
				`WARNING chart.values: There is no image "lost-image" in the OpenStack: ` + byName,
				`WARNING chart.values: There is no key pair "lost-key" in the OpenStack: ` + byName,
				`WARNING node_groups.workers: There is no flavor "lost-worker" in the OpenStack: ` + byName,
			},
		},
		{
			name: "not there by id",
			changes: []string{
				`machineImage = "ubuntu-2204-kube-v1.33.1"`, `machineImageId = "` + lost + `"`, `1, flavor = "m1.medium"`, `1, flavor = "` + lost + `"`,
				`2, flavor`, fmt.Sprintf(`2, networks = [{}, { id = %q }], flavor`, lost),
				`name = "public"`, fmt.Sprintf(`id = %q }, internal = { id = %[1]q }, internal_subnet = { id = %[1]q`, lost),
			},
			diagnostics: []string{
				`ERROR network.external: There is no network with the id ` + lost + byID,
				`ERROR network.internal: There is no network with the id ` + lost + byID,
				`ERROR network.internal_subnet: There is no subnet with the id ` + lost + byID,
				`ERROR control_plane.flavor: There is no flavor with the id ` + lost + byID,
				`ERROR chart.values: There is no image with the id ` + lost + byID,
				`ERROR node_groups.workers: There is no network with the id ` + lost + byID,
			},
		},
		{
			name:    "several networks",
			changes: []string{`"public"`, `"public" }, internal = { name = "twin"`, `1, flavor`, `1, networks = [{}, { name = "public" }], flavor`},
			diagnostics: []string{
				`ERROR network.internal: There are 2 of the network "twin": Give the id of the one that is meant.`,
				`ERROR control_plane.networks: There are 2 of the network "public": Give the id of the one that is meant.`,
			},
		},
		{
			name:    "several subnets, another version",
			changes: []string{`"public"`, `"public" }, internal_subnet = { name = "twin"`, `"1.33.1"`, `"1.32.5"`},
			diagnostics: []string{
				`ERROR network.internal_subnet: There are 2 of the subnet "twin": Give the id of the one that is meant.`,
				`ERROR kubernetes_version: Image "ubuntu-2204-kube-v1.33.1" has Kubernetes 1.33.1, not 1.32.5: Kubelet and kubeadm come with the image: name one whose property kube_version is kubernetes_version.`,
			},
		},
		{
			name:    "no version, small flavor, nothing that makes nodes ready",
			changes: []string{`{ cni = "elsewhere" }`, `{}`, `"ubuntu-2204-kube-v1.33.1"`, `"ubuntu-22.04"`, `1, flavor = "m1.medium"`, `1, flavor = "m1.tiny"`},
			diagnostics: []string{
				`WARNING addons: No add-on of workload cluster "edge" is a network plugin, without which no node becomes ready: ` +
					`Add one, for example addons = { cni = { profile = "cilium" } }. ` + elsewhere,
				`WARNING addons: The kubelets of workload cluster "edge" wait for a cloud controller manager, and no add-on is one: its nodes keep the taint node.cloudprovider.kubernetes.io/uninitialized: ` +
					`Set openstack.cloud_config, and addons = { cloud = { profile = "openstack-cloud-controller-manager" } }. ` + elsewhere,
				`WARNING control_plane.flavor: Flavor "m1.tiny" of the control plane has 1 vCPU and 512 MiB of memory: Kubeadm refuses a control plane of less than 2 vCPU, and needs 2048 MiB for any machine.`,
				`WARNING chart.values: Image "ubuntu-22.04" does not say which version of Kubernetes it has: Its property kube_version is missing, so that nobody can tell whether it has 1.33.1.`,
			},
		},
		{
			name: "quota",
			prepare: func() {
				cloud.Limit(t, user, "instances", 2)
				cloud.Limit(t, user, "cores", 5)
			},
			diagnostics: []string{
				`WARNING openstack: The machines need 3 instances, and the quota of the project has 2 left: 0 of 2 are used: ` + above,
				`WARNING openstack: The machines need 6 vCPUs, and the quota of the project has 5 left: 0 of 5 are used: ` + above,
			},
		},
	}
	for _, c := range cases {
		for i := 0; i < len(c.changes); i += 2 {
			require.Contains(t, least, c.changes[i])
		}
		step := resource.TestStep{
			PreConfig: func() {
				if c.prepare != nil {
					c.prepare()
				}
				env.diagnostics.BeginStep(c.name)
			},
			Config:   env.config(strings.NewReplacer(c.changes...).Replace(least), labCloudVIM(cloud, user)),
			PlanOnly: true, ExpectNonEmptyPlan: true,
		}
		if len(c.diagnostics) > 0 && strings.HasPrefix(c.diagnostics[0], "ERROR") {
			step.ExpectNonEmptyPlan = false
			step.ExpectError = acctest.Says("Error: " + regexp.QuoteMeta(strings.Split(c.diagnostics[0], ": ")[1]))
		}
		steps = append(steps, step)
	}
	env.run(t, steps...)
	for _, c := range cases {
		for i := range slices.Backward(c.diagnostics) {
			if strings.HasPrefix(c.diagnostics[i], "ERROR ") {
				// The last error says how a destroy goes on that such a plan precedes.
				c.diagnostics[i] += ` If this stops a destroy, "terraform destroy -refresh=false" goes on: it plans no change first.`
				break
			}
		}
		assert.Equal(t, c.diagnostics, env.diagnostics.OfPlans(c.name), c.name)
	}
}
