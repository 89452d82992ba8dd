package workloadcluster_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccWorkloadCluster_capoLoadBalancer makes a cluster of the embedded chart for OpenStack whose API server is behind a load balancer
// of Octavia with a floating address, as the real Cluster API Provider OpenStack makes it. Its servers have no kubeadm: the cluster gets
// as far as the server of its control plane, which is a member. Nothing of it is left in the end.
func TestAccWorkloadCluster_capoLoadBalancer(t *testing.T) {
	env := newEnv(t)
	cloud := labtest.OpenStackLoadBalancers(t)
	user := cloud.NewProject(t)
	config := env.config(fmt.Sprintf(`
  kubernetes_version = "1.33.1"
  chart = {
    name = "openstack"
    values = [yamlencode({
      machineImage      = "ubuntu-2204-kube-v1.33.1"
      clusterNetworking = { externalNetworkId = %q }
      apiServer         = { loadBalancerProvider = "lab", allowedCIDRs = ["0.0.0.0/0"] }
    })]
  }
  control_plane = { replicas = 3, flavor = "m1.medium" }
  node_groups   = { workers = { replicas = 1, flavor = "m1.small" } }
  openstack     = { vim_id = vnf_vim.cloud.id, application_credential = {} }
  on_failure    = "resume"
  timeouts      = { create = "20s" }
`, cloud.Networks["public"]), labCloudVIM(cloud, user))
	env.run(t, resource.TestStep{
		Config:             config,
		ExpectNonEmptyPlan: true,
		ConfigStateChecks:  []statecheck.StateCheck{status("FAILED_TEMP")},
		Check: func(*terraform.State) error {
			labtest.Eventually(t, 5*time.Minute, "a server behind the load balancer", func() error { return env.balanced(cloud, user) })
			return nil
		},
	})
	require.Empty(t, cloud.LoadBalancers(t, user))
	require.Empty(t, cloud.Ports(t, user))
}

// balanced looks whether the infrastructure of the cluster is ready at the floating address of its only load balancer, and whether that
// has the server of the control plane as its member.
func (env *testEnv) balanced(cloud labtest.OpenStackEnv, user labtest.OpenStackUser) error {
	all := cloud.LoadBalancers(env, user)
	if len(all) != 1 {
		return fmt.Errorf("the project has the load balancers %v", all)
	}
	ready := env.kubectl("get", "openstackclusters", "-o", "jsonpath={.items[*].status.ready} {.items[*].spec.controlPlaneEndpoint.host}:{.items[*].spec.controlPlaneEndpoint.port}")
	var addresses struct {
		FloatingIPs []struct {
			Status  string
			Address string `json:"floating_ip_address"`
		}
	}
	cloud.Get(env, "network", "/v2.0/floatingips?port_id="+all[0].Port, &addresses)
	if len(addresses.FloatingIPs) != 1 {
		return errors.New("the load balancer has no floating address")
	}
	if floating := addresses.FloatingIPs[0]; ready != "true "+floating.Address+":6443" || floating.Status != "ACTIVE" {
		return fmt.Errorf("the cluster is %q, and the address %s is %s", ready, floating.Address, floating.Status)
	}
	var pools struct{ Pools []struct{ ID string } }
	cloud.Get(env, "load-balancer", "/v2.0/lbaas/pools?loadbalancer_id="+all[0].ID, &pools)
	for _, pool := range pools.Pools {
		var members struct{ Members []struct{ Address string } }
		cloud.Get(env, "load-balancer", "/v2.0/lbaas/pools/"+pool.ID+"/members", &members)
		if len(members.Members) == 1 {
			return nil
		}
	}
	return fmt.Errorf("the pools %v have no member", pools.Pools)
}
