package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestRealNodesBalancers makes the example of a cluster with Octavia: its three control planes are behind a load balancer, its kubelets
// wait for the cloud controller manager, which an add-on is, and the Service of the network function has a load balancer of its own,
// whose members are the workers, also after they are scaled by a cloud controller manager with another credential. All of it is
// gone in the end. It takes many minutes: VNF_REAL_NODES has it run.
func TestRealNodesBalancers(t *testing.T) {
	if os.Getenv("VNF_REAL_NODES") == "" {
		t.Skip("VNF_REAL_NODES is not set: `make test-nodes` sets it")
	}
	labtest.NeedsNodes(t)
	labtest.OpenStackSystems(t, labtest.OpenStackNodes)
	n := newRealNodesOf(t, octaviaExample, labtest.OpenStackLoadBalancers(t), "10.64.0.0/24", 3)
	n.vars["image_prefix"], n.vars["cloud_chart"] = "node-v", filepath.Join(labtest.CloudManager(t), "chart")
	n.brings(t, 1, nil)
	n.expectMembers(t, "k8s-clusterapi-cluster-", "node-role.kubernetes.io/control-plane")
	ids := n.workload(t, "get", "nodes", "--output", `jsonpath={range .items[*]}{.spec.providerID} {.spec.taints[?(@.key=="node.cloudprovider.kubernetes.io/uninitialized")].key}{end}`)
	assert.Equal(t, 4, strings.Count(ids, "openstack:///"), "%s", ids)
	assert.NotContains(t, ids, "uninitialized")

	var address string
	labtest.Eventually(t, 5*time.Minute, "the load balancer of the Service", func() error {
		if address = n.workload(t, "get", "service", "portal", "--namespace=portal", "--output=jsonpath={.status.loadBalancer.ingress[*].ip}"); address == "" {
			return fmt.Errorf("the Service has no address")
		}
		return nil
	})
	n.answers(t, "http://"+address)
	assert.Contains(t, n.cloud.Holdings(t, n.user), "floatingips "+address)
	const balancer = "kube_service_edge_portal_portal"
	n.expectMembers(t, balancer, workers)

	credentials := n.credentials(t)
	n.brings(t, 1, map[string]string{"credential": "leaked"})
	assert.NotEqual(t, credentials, n.credentials(t))
	n.brings(t, 2, map[string]string{"workers": "2"})
	n.expectMembers(t, balancer, workers)
	n.answers(t, "http://"+address)

	// What Cinder's driver would have left behind.
	n.cloud.PostAs(t, n.user, "block-storage", "/volumes", map[string]any{"volume": map[string]any{
		"name": "pvc-1", "size": 1, "metadata": map[string]any{"cinder.csi.openstack.org/cluster": "edge"},
	}}, nil)
	n.destroys(t, "loadbalancers", "floatingips", "security_groups lb-sg-", "volumes")
}

// workers selects the nodes that are none of the control plane.
const workers = "!node-role.kubernetes.io/control-plane"

// expectMembers expects that the members of the pool of a load balancer, whose name begins so, are some nodes.
func (n *realNodes) expectMembers(t *testing.T, balancer, selector string) {
	t.Helper()
	nodes := strings.Fields(n.workload(t, "get", "nodes", "--selector="+selector, "--output", `jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}`))
	slices.Sort(nodes)
	labtest.Eventually(t, 3*time.Minute, "the members of "+balancer, func() error {
		all := n.cloud.LoadBalancers(t, n.user)
		at := slices.IndexFunc(all, func(b labtest.LoadBalancer) bool { return strings.HasPrefix(b.Name, balancer) })
		if at < 0 {
			return fmt.Errorf("the project has the load balancers %v", all)
		}
		var pools struct{ Pools []struct{ ID string } }
		n.cloud.Get(t, "load-balancer", "/v2.0/lbaas/pools?loadbalancer_id="+all[at].ID, &pools)
		if len(pools.Pools) != 1 {
			return fmt.Errorf("it has the pools %v", pools.Pools)
		}
		var members struct{ Members []struct{ Address string } }
		n.cloud.Get(t, "load-balancer", "/v2.0/lbaas/pools/"+pools.Pools[0].ID+"/members", &members)
		var addresses []string
		for _, m := range members.Members {
			addresses = append(addresses, m.Address)
		}
		if slices.Sort(addresses); !slices.Equal(addresses, nodes) {
			return fmt.Errorf("they are %v, and the nodes %v", addresses, nodes)
		}
		return nil
	})
}
