package clusterscript_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/clusterscript"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/nodetest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// specified is the request body in the specification of private registries, with its placeholders filled in.
const specified = `{
  "script_path": "Scripts/install_k8s_cluster.sh",
  "vim_name": "kubernetes_vim",
  "master_node": {
    "aspect_id": "master_instance", "ssh_cp_name": "masterNode_CP1", "nic_cp_name": "masterNode_CP1", "username": "ubuntu", "password": "ubuntu",
    "pod_cidr": "192.168.3.0/24", "cluster_cidr": "10.199.187.0/24", "cluster_cp_name": "masterNode_CP1"
  },
  "worker_node": {
    "aspect_id": "worker_instance", "ssh_cp_name": "workerNode_CP2", "nic_cp_name": "workerNode_CP2", "username": "ubuntu", "password": "ubuntu"
  },
  "proxy": {
    "http_proxy": "http://user1:password1@192.0.2.1:3128", "https_proxy": "https://user2:password2@192.0.2.2:3128",
    "no_proxy": "192.168.246.0/24,10.0.0.1,registry.example.com", "k8s_node_cidr": "192.168.0.0/24"
  },
  "private_registry_connection_info": [
    {"connection_type": "0", "server": "192.168.0.10:5000"},
    {
      "connection_type": "1", "server": "registry.example.com", "username": "user01", "password": "user01",
      "certificate_path": "Files/registries/ca.crt", "hosts_string": "192.168.0.20 registry.example.com"
    }
  ]
}`

func TestCheck(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	below := func(p map[string]any, name string) map[string]any {
		m, _ := p[name].(map[string]any)
		return m
	}
	for name, c := range map[string]struct {
		edit    func(params map[string]any)
		masters int
		want    string
	}{
		"as specified": {nil, 1, ""},
		"no script":    {func(p map[string]any) { delete(p, "script_path") }, 1, "script_path is missing"},
		"wrong script": {func(p map[string]any) { p["script_path"] = "Scripts/install_k8s.sh" }, 1, `script_path names a file that is not in the package: "Scripts/install_k8s.sh"`},
		"large script": {func(p map[string]any) { p["script_path"] = "Scripts/large.sh" }, 1, "script_path cannot be used: Scripts/large.sh of the package is not a script, or is larger than 1 MiB"},
		"timeout":      {func(p map[string]any) { p["script_timeout"] = "soon" }, 1, `script_timeout must be a duration, not "soon"`},
		"certificate": {func(p map[string]any) {
			p["private_registry_connection_info"] = []any{map[string]any{"connection_type": 1.0, "server": "registry.example.com", "certificate_path": "Files/ca.crt"}}
		}, 1, `private_registry_connection_info.0.certificate_path cannot be used: "Files/ca.crt"`},
		"no Ansible":    {func(p map[string]any) { p["ansible"] = map[string]any{} }, 1, "ansible is not known"},
		"load balancer": {func(p map[string]any) { p["external_lb_param"] = map[string]any{"ssh_cp_name": "workerNode_CP2"} }, 1, "external_lb_param.username is missing"},
		"point":         {func(p map[string]any) { below(p, "worker_node")["ssh_cp_name"] = "workerNode_CP1" }, 1, `worker_node.ssh_cp_name names no connection point of a server: "workerNode_CP1": did you mean "workerNode_CP2"?`},
		"no masters":    {nil, 0, "the cluster would have no master"},
		"two masters":   {nil, 2, "the cluster would have 2 masters"},
	} {
		t.Run(name, func(t *testing.T) {
			var given map[string]any
			require.NoError(t, json.Unmarshal([]byte(specified), &given))
			if c.edit != nil {
				c.edit(given)
			}
			check := &vnfm.HookCheck{
				Params: map[string]any{nodetest.Param: given}, Flavour: nodetest.Flavour(), Request: &vnfm.InstanceSpec{},
				Counts: map[string]int{"masterNode": c.masters}, Package: &vnfm.Package{Content: fstest.MapFS{
					"Scripts/install_k8s_cluster.sh": {Data: []byte(program)}, "Files/registries/ca.crt": {Data: authority}, "Scripts/large.sh": {Data: make([]byte, 1<<20+1)},
				}},
			}
			for _, hook := range []string{"instantiate_end", "scale_start", "scale_end", "heal_start", "heal_end", "terminate_start"} {
				check.Hooks = append(check.Hooks, vnfm.Hook{Name: hook})
			}
			var got []string
			for _, p := range clusterscript.New().Check(check) {
				got = append(got, p.String())
			}
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, strings.Join(got, "\n"), c.want)
			assert.NotContains(t, strings.Join(got, "\n"), "password1")
		})
	}
}

// The script decides on the pods of a node: only a network without an address for each node is an error.
func TestPodNetwork(t *testing.T) {
	for network, want := range map[string]string{
		"10.1.0.0/21": "",
		"10.1.0.0/24": "warning: pod_cidr 10.1.0.0/24 has room for 1 node, and the cluster can have 5: kubeadm gives each node a /24 unless the script configures it otherwise: give a network of /21 or larger",
		"10.1.0.0/29": "warning: pod_cidr 10.1.0.0/29 has room for no node, and the cluster can have 5: kubeadm gives each node a /24 unless the script configures it otherwise: give a network of /21 or larger",
		"10.1.0.0/30": "error: pod_cidr 10.1.0.0/30 has room for 4 nodes, and the cluster can have 5: each node needs an address: give a network of /29 or larger",
		"fd00::/60":   "",
		"fd00::/64":   "warning: pod_cidr fd00::/64 has room for 1 node, and the cluster can have 5: kubeadm gives each node a /64 unless the script configures it otherwise: give a network of /61 or larger",
		"fd00::/126":  "error: pod_cidr fd00::/126 has room for 4 nodes, and the cluster can have 5: each node needs an address: give a network of /125 or larger",
	} {
		var given map[string]any
		require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(specified, "192.168.3.0/24", network)), &given))
		delete(given, "private_registry_connection_info")
		check := &vnfm.HookCheck{
			Params: map[string]any{nodetest.Param: given}, Flavour: nodetest.Flavour(), Request: &vnfm.InstanceSpec{}, Counts: map[string]int{"masterNode": 3, "workerNode": 2},
			Package: &vnfm.Package{Content: fstest.MapFS{"Scripts/install_k8s_cluster.sh": {Data: []byte(program)}}},
		}
		for _, hook := range []string{"instantiate_end", "scale_start", "scale_end", "terminate_start"} {
			check.Hooks = append(check.Hooks, vnfm.Hook{Name: hook})
		}
		var got []string
		for _, p := range clusterscript.New().Check(check) {
			severity := map[vnfm.Severity]string{vnfm.SeverityError: "error: ", vnfm.SeverityWarning: "warning: "}[p.Severity]
			got = append(got, severity+strings.TrimPrefix(p.String(), "k8s_cluster_installation_param.master_node."))
		}
		assert.Equal(t, want, strings.Join(got, "\n"))
	}
}

// The nodes are servers of the VDUs of the parameters; without those, of any VDU.
func TestNodeVDUs(t *testing.T) {
	var given map[string]any
	require.NoError(t, json.Unmarshal([]byte(specified), &given))
	check := &vnfm.HookCheck{
		Params: map[string]any{nodetest.Param: given}, Later: true, Flavour: nodetest.Flavour(), Request: &vnfm.InstanceSpec{},
		Package: &vnfm.Package{Content: fstest.MapFS{}},
	}
	assert.Equal(t, []string{"masterNode", "workerNode"}, clusterscript.New().NodeVDUs(check))
	given["external_lb_param"] = map[string]any{"ssh_cp_name": "none"}
	assert.Empty(t, clusterscript.New().NodeVDUs(check))
	check.Params = nil
	assert.Empty(t, clusterscript.New().NodeVDUs(check))
}
