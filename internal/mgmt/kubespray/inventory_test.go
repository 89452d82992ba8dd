package kubespray

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

func sample() (*cluster.Cluster, []*cluster.Node) {
	s := &cluster.Settings{
		PodCIDR: netip.MustParsePrefix("10.1.0.0/16"), ServiceCIDR: netip.MustParsePrefix("10.2.0.0/16"),
		Master:  cluster.Group{Access: hosts.Access{Login: remote.Host{User: "ubuntu", Password: "it's: #1"}}},
		Worker:  cluster.Group{Access: hosts.Access{Login: remote.Host{User: "ubuntu", PrivateKey: "KEY", Port: 2222}}},
		Ansible: &cluster.Ansible{Inventory: "/home/ansible/edge", Variables: map[string]any{"kube_network_plugin": "cilium", "kube_pods_subnet": "10.3.0.0/16"}},
		Proxy:   cluster.Proxy{HTTP: "http://u:p@192.0.2.1:3128", None: []string{"10.0.0.0/8"}},
	}
	nodes := []*cluster.Node{
		{Name: "master2", Role: cluster.Master, Address: "192.0.2.12", IP: "10.0.0.12"},
		{Name: "master1", Role: cluster.Master, Address: "192.0.2.11", IP: "10.0.0.11"},
		{Name: "worker1", Role: cluster.Worker, Address: "192.0.2.21", IP: "10.0.0.21"},
	}
	return &cluster.Cluster{Settings: s}, nodes
}

const want = `all:
    hosts:
        master2:
            access_ip: 10.0.0.12
            ansible_become_password: !unsafe "it's: #1"
            ansible_host: 192.0.2.12
            ansible_password: !unsafe "it's: #1"
            ansible_user: !unsafe "ubuntu"
            etcd_member_name: etcd2
            ip: 10.0.0.12
            main_access_ip: 10.0.0.12
            main_access_ips:
                - 10.0.0.12
            main_ip: 10.0.0.12
            main_ips:
                - 10.0.0.12
        master1:
            access_ip: 10.0.0.11
            ansible_become_password: !unsafe "it's: #1"
            ansible_host: 192.0.2.11
            ansible_password: !unsafe "it's: #1"
            ansible_user: !unsafe "ubuntu"
            etcd_member_name: etcd1
            ip: 10.0.0.11
            main_access_ip: 10.0.0.11
            main_access_ips:
                - 10.0.0.11
            main_ip: 10.0.0.11
            main_ips:
                - 10.0.0.11
        worker1:
            access_ip: 10.0.0.21
            ansible_host: 192.0.2.21
            ansible_port: 2222
            ansible_ssh_private_key_file: /home/ansible/edge/worker.key
            ansible_user: !unsafe "ubuntu"
            ip: 10.0.0.21
            main_access_ip: 10.0.0.21
            main_access_ips:
                - 10.0.0.21
            main_ip: 10.0.0.21
            main_ips:
                - 10.0.0.21
    children:
        calico_rr: {}
        etcd:
            hosts:
                master2: {}
                master1: {}
        k8s_cluster:
            children:
                kube_control_plane: {}
                kube_node: {}
        kube_control_plane:
            hosts:
                master2: {}
                master1: {}
        kube_node:
            hosts:
                worker1: {}
`

// The inventory has lower-case variables, the first master first, and nothing that a
// password could break.
func TestInventory(t *testing.T) {
	c, nodes := sample()
	i := &installer{release: &release{groups: today}}
	got, err := i.inventory(c, run{nodes: nodes})
	require.NoError(t, err)
	assert.Equal(t, want, string(got))

	i.release.groups = former
	got, err = i.inventory(c, run{nodes: nodes})
	require.NoError(t, err)
	for _, name := range []string{"kube-master:", "kube-node:", "k8s-cluster:", "calico-rr:", "etcd:"} {
		assert.Contains(t, string(got), name)
	}
	assert.NotContains(t, string(got), "kube_node")
}

// The user's variables override the computed ones.
func TestVariables(t *testing.T) {
	c, _ := sample()
	assert.Equal(t, map[string]any{
		"kube_pods_subnet": "10.3.0.0/16", "kube_service_addresses": "10.2.0.0/16", "http_proxy": "http://u:p@192.0.2.1:3128",
		"additional_no_proxy": "10.0.0.0/8", "kube_network_plugin": "cilium",
	}, variables(c))

	c.Registries = []connect.Connection{{Type: connect.HTTP, Server: "192.168.0.10:5000"}}
	assert.Equal(t, true, variables(c)["containerd_use_config_path"])
}
