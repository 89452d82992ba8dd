package workloadcluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAccWorkloadCluster_capo makes a cluster of the embedded chart for OpenStack with the
// real Cluster API Provider OpenStack, over real Keystone, Nova, Neutron and Glance, and an
// application credential of its own. It gets as far as the server of its control plane: the
// servers of the lab have no kubeadm, so that the API of the cluster never answers. What
// there is goes with the cluster.
func TestAccWorkloadCluster_capo(t *testing.T) {
	w := newWorld(t)
	cloud := labtest.OpenStackCompute(t)
	user := cloud.NewProject(t)
	client, err := openstack.New(openstack.Config{
		VIM: "cloud",
		Connection: vnfm.OpenStackConnection{
			AuthURL: cloud.AuthURL, Region: cloud.Region, Username: user.Name, UserDomainName: cloud.Domain, ProjectName: user.Project, ProjectDomainName: cloud.Domain,
		},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(user.Password)},
	})
	require.NoError(t, err)
	config := w.config(fmt.Sprintf(`
  kubernetes_version = "1.33.1"
  chart = {
    name = "openstack"
    values = {
      machineImage      = "ubuntu-2204-kube-v1.33.1"
      clusterNetworking = { externalNetworkId = %q }
      apiServer         = { enableLoadBalancer = false, associateFloatingIP = false, fixedIP = "192.168.3.10" }
    }
  }
  control_plane = { replicas = 1, flavour = "m1.medium" }
  node_groups   = { workers = { replicas = 1, flavour = "m1.small" } }
  openstack     = { vim_id = vnf_vim.cloud.id, application_credential = {} }
  timeouts      = { create = "20s" }
`, cloud.Networks["public"]), fmt.Sprintf(`
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
`, cloud.AuthURL, cloud.Region, user.Name, user.Password, user.Project, cloud.Domain))
	servers := func() map[string]*openstack.Server {
		all, err := client.Servers(t.Context())
		require.NoError(t, err)
		return all
	}
	w.run(t,
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
				return fmt.Errorf("no server of the control plane: %s\n%s", last, w.kubectl("get", "openstackclusters,openstackmachines,openstackservers,machines", "-o", "yaml"))
			},
		},
		resource.TestStep{
			// What does not come up says how far it is.
			Config:             strings.Replace(config, `create = "20s"`, `update = "20s"`, 1),
			ExpectError:        acctest.Says(`(?s)edge-control-plane.*`),
			ExpectNonEmptyPlan: true,
		},
	)
	require.Empty(t, servers())
}
