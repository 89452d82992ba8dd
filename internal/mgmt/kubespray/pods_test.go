package kubespray

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The network of pods has a part for each node of the highest scale levels, which the network plugin makes as long as variables say.
func TestPodNetwork(t *testing.T) {
	t.Parallel()
	initial := 1
	flavour := &vnfm.Flavour{
		VDUs: []vnfm.VDU{{ID: "m", InitialDelta: &initial, MaxInstances: 3}, {ID: "w", InitialDelta: &initial, MaxInstances: 3}},
		Aspects: []vnfm.ScalingAspect{
			{ID: "masters", MaxLevel: 1, StepDeltas: []string{"two"}, Deltas: map[string]map[string]int{"two": {"m": 2}}},
			{ID: "workers", MaxLevel: 2, StepDeltas: []string{"one"}, Deltas: map[string]map[string]int{"one": {"w": 1}}},
		},
	}
	const param = "k8s_cluster_installation_param."
	for _, c := range []struct {
		pods string
		vars map[string]any
		want string
	}{
		{pods: "10.1.0.0/16"},
		{pods: "10.1.0.0/23"},
		{pods: "10.1.0.0/24", want: "master_node.pod_cidr 10.1.0.0/24 has room for 4 nodes, and the cluster can have 6: each node gets a /26 (calico_pool_blocksize): give a network of /23 or larger"},
		{pods: "10.1.0.0/26", want: "master_node.pod_cidr 10.1.0.0/26 has room for 1 node, and the cluster can have 6: each node gets a /26 (calico_pool_blocksize): give a network of /23 or larger"},
		{pods: "10.1.0.0/27", want: "master_node.pod_cidr 10.1.0.0/27 has room for no node, and the cluster can have 6: each node gets a /26 (calico_pool_blocksize): give a network of /23 or larger"},
		{pods: "10.1.0.0/24", vars: map[string]any{"calico_pool_blocksize": int64(27)}},
		{pods: "10.1.0.0/23", vars: map[string]any{"kube_network_plugin": "calico", "kube_network_node_prefix": "24"}},
		{pods: "10.1.0.0/21", vars: map[string]any{"kube_network_plugin": "flannel"}},
		{
			pods: "10.1.0.0/22", vars: map[string]any{"kube_network_plugin": "flannel"},
			want: "master_node.pod_cidr 10.1.0.0/22 has room for 4 nodes, and the cluster can have 6: each node gets a /24 (kube_network_node_prefix): give a network of /21 or larger",
		},
		{pods: "10.1.0.0/22", vars: map[string]any{"kube_network_plugin": "cilium", "kube_network_node_prefix": 25.0}},
		{
			pods: "10.1.0.0/22", vars: map[string]any{"kube_pods_subnet": "10.3.0.0/25"},
			want: "ansible.group_vars.kube_pods_subnet 10.3.0.0/25 has room for 2 nodes, and the cluster can have 6: each node gets a /26 (calico_pool_blocksize): give a network of /23 or larger",
		},
		{pods: "10.1.0.0/24", vars: map[string]any{"kube_pods_subnet": "10.3.0.0/16"}},
		{pods: "10.1.0.0/16", vars: map[string]any{"kube_pods_subnet": "10.3.0.0"}, want: `ansible.group_vars.kube_pods_subnet must be a network in CIDR form, not "10.3.0.0": for example 10.233.64.0/18`},
		{pods: "10.1.0.0/16", vars: map[string]any{"kube_service_addresses": 10.0}, want: `ansible.group_vars.kube_service_addresses must be a network in CIDR form, not "10": for example 10.233.64.0/18`},
		{
			pods: "10.1.0.0/16", vars: map[string]any{"kube_service_addresses": "10.1.8.0/24"},
			want: "master_node.pod_cidr 10.1.0.0/16 overlaps with ansible.group_vars.kube_service_addresses 10.1.8.0/24: pods and services need networks of their own",
		},
		{
			pods: "10.1.0.0/16", vars: map[string]any{"kube_network_plugin": "flannel", "kube_network_node_prefix": "wide"},
			want: `ansible.group_vars.kube_network_node_prefix must be the length of a prefix, 1 to 32, not "wide"`,
		},
		{pods: "10.1.0.0/16", vars: map[string]any{"calico_pool_blocksize": 26.5}, want: `ansible.group_vars.calico_pool_blocksize must be the length of a prefix, 1 to 32, not "26.5"`},
		// Known later, or by Ansible alone.
		{pods: "10.1.0.0/27", vars: map[string]any{"kube_network_plugin": nil}},
		{pods: "10.1.0.0/27", vars: map[string]any{"kube_pods_subnet": nil}},
		{pods: "10.1.0.0/27", vars: map[string]any{"calico_pool_blocksize": "{{ blocksize }}"}},
		{pods: "10.1.0.0/27", vars: map[string]any{"kube_network_plugin": "{{ plugin }}"}},
	} {
		s := &cluster.Settings{
			Master: cluster.Group{Access: hosts.Access{VDU: "m"}}, Worker: cluster.Group{Access: hosts.Access{VDU: "w"}},
			PodCIDR: netip.MustParsePrefix(c.pods), ServiceCIDR: netip.MustParsePrefix("10.2.0.0/16"), Ansible: &cluster.Ansible{Variables: c.vars},
		}
		var problems vnfm.Problems
		checkPods(&vnfm.HookCheck{Flavour: flavour, Counts: map[string]int{"m": 1, "w": 1}}, s, &problems)
		if c.want == "" {
			assert.Empty(t, problems, "%s %v", c.pods, c.vars)
			continue
		}
		if assert.Len(t, problems, 1, "%s %v", c.pods, c.vars) {
			assert.Equal(t, param+c.want, problems[0].String())
			assert.Equal(t, []any{vnfm.SeverityError, vnfm.AttributeParams, cluster.Param}, []any{problems[0].Severity, problems[0].Attribute, problems[0].Key})
		}
	}
}
