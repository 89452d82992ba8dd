package cluster_test

import (
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID:   "simple",
		VDUs: []vnfm.VDU{{ID: "masterNode"}, {ID: "workerNode"}, {ID: "externalLB"}},
		ConnectionPoints: []vnfm.ConnectionPoint{
			{ID: "masterNode_CP1", VDUID: "masterNode"}, {ID: "workerNode_CP2", VDUID: "workerNode"}, {ID: "externalLB_CP1", VDUID: "externalLB"},
		},
		Aspects: []vnfm.ScalingAspect{
			{ID: "master_instance", MaxLevel: 1, StepDeltas: []string{"two"}, Deltas: map[string]map[string]int{"two": {"masterNode": 2}}},
			{ID: "worker_instance", MaxLevel: 2, StepDeltas: []string{"one"}, Deltas: map[string]map[string]int{"one": {"workerNode": 1}}},
		},
	}
}

// specified is the request body in the specification of the driver, with its placeholders filled in.
const specified = `{
  "script_path": "",
  "vim_name": "kubernetes_vim",
  "ansible": {
    "ip_address": "192.0.2.10", "username": "ansible", "password": "ansible",
    "kubespray_root_path": "/home/ansible/kubespray", "transferring_inventory_path": "/home/ansible/inventory/edge"
  },
  "master_node": {
    "aspect_id": "master_instance", "ssh_cp_name": "masterNode_CP1", "nic_cp_name": "masterNode_CP1", "username": "ubuntu", "password": "ubuntu",
    "pod_cidr": "192.168.3.0/16", "cluster_cidr": "10.199.187.0/24", "cluster_cp_name": "masterNode_CP1"
  },
  "worker_node": {
    "aspect_id": "worker_instance", "ssh_cp_name": "workerNode_CP2", "nic_cp_name": "workerNode_CP2", "username": "ubuntu", "password": "ubuntu"
  },
  "proxy": {
    "http_proxy": "http://user1:password1@192.0.2.1:3128", "https_proxy": "https://user2:password2@192.0.2.2:3128",
    "no_proxy": "192.168.246.0/24,10.0.0.1", "k8s_node_cidr": "10.10.0.0/24"
  },
  "external_lb_param": {
    "ssh_cp_name": "externalLB_CP1", "ssh_username": "ubuntu", "ssh_password": "ubuntu", "script_path": "./Scripts/ExternalLB_installation.sh"
  },
  "private_registry_connection_info": [
    {"connection_type": "0", "server": "192.168.0.10:5000"}
  ]
}`

func read(t *testing.T, text string, edit func(map[string]any)) (*cluster.Settings, []string) {
	t.Helper()
	return readAs(t, cluster.Kubespray, text, false, edit)
}

// readAs reads parameters of a way to install clusters, of which some may be known later.
func readAs(t *testing.T, own cluster.Kind, text string, later bool, edit func(map[string]any)) (*cluster.Settings, []string) {
	t.Helper()
	var params map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &params))
	if edit != nil {
		edit(params)
	}
	var problems vnfm.Problems
	p := &vnfm.Package{Content: fstest.MapFS{
		"Scripts/ExternalLB_installation.sh": {Data: []byte("true")}, "Scripts/install.sh": {Data: []byte("true")}, "Scripts/large.sh": {Data: make([]byte, 1<<20+1)},
	}}
	s := cluster.Read(map[string]any{cluster.Param: params}, later, p, flavour(), own, &problems)
	var out []string
	for _, problem := range problems {
		require.Equal(t, vnfm.AttributeParams, problem.Attribute)
		require.Equal(t, cluster.Param, problem.Key)
		text := strings.ReplaceAll(problem.String(), cluster.Param+".", "")
		if problem.Severity == vnfm.SeverityWarning {
			text = "warning: " + text
		}
		out = append(out, text)
	}
	return s, out
}

// The body of the specification is taken; host bits are a warning.
func TestSpecifiedRequest(t *testing.T) {
	s, problems := read(t, specified, nil)
	assert.Equal(t, []string{"warning: master_node.pod_cidr is 192.168.3.0/16, which has host bits: 192.168.0.0/16 is used"}, problems)
	assert.Equal(t, "192.168.0.0/16", s.PodCIDR.String())
	assert.Equal(t, "masterNode", s.Master.Access.VDU)
	assert.Equal(t, "192.168.246.0/24,10.0.0.1,10.10.0.0/24", s.Proxy.NoProxy())
	assert.Equal(t, "Scripts/ExternalLB_installation.sh", s.LoadBalancer.Script)
	assert.Equal(t, 8383, s.LoadBalancer.APIPort)
	assert.Equal(t, "192.168.0.10:5000", s.Registries[0].Server)
	assert.Equal(t, vnfm.Secret("ansible"), s.Ansible.Host.Password)
}

// below is an object of the parameters.
func below(params map[string]any, name string) map[string]any {
	m, _ := params[name].(map[string]any)
	return m
}

func encryptedKey(t *testing.T, passphrase string) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	require.NoError(t, err)
	return string(pem.EncodeToMemory(block))
}

func TestBadSettings(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(map[string]any)
		want string
	}{
		"placeholders of the specification": {func(p map[string]any) {
			below(p, "ansible")["ip_address"], below(p, "ansible")["kubespray_root_path"] = "0.0.0.0", ""
		}, `ansible.ip_address must be the IP address of the server that runs Ansible, not "0.0.0.0"`},
		"no root":          {func(p map[string]any) { below(p, "ansible")["kubespray_root_path"] = "" }, "ansible.kubespray_root_path is missing"},
		"connection point": {func(p map[string]any) { below(p, "external_lb_param")["ssh_cp_name"] = "externalLB_instance" }, `external_lb_param.ssh_cp_name names no connection point of a server: "externalLB_instance": did you mean "externalLB_CP1"?`},
		"aspect":           {func(p map[string]any) { below(p, "worker_node")["aspect_id"] = "worker_instances" }, `worker_node.aspect_id names no scaling aspect: "worker_instances": did you mean "worker_instance"?`},
		"proxy":            {func(p map[string]any) { below(p, "proxy")["http_proxy"] = "http://user1:password1@host1:port1" }, "proxy.http_proxy is not a valid URL of a proxy"},
		"cidr":             {func(p map[string]any) { below(p, "master_node")["cluster_cidr"] = "10.199.187.0" }, `master_node.cluster_cidr must be a network in CIDR form, not "10.199.187.0"`},
		"overlap":          {func(p map[string]any) { below(p, "master_node")["cluster_cidr"] = "192.168.4.0/24" }, "master_node.cluster_cidr 192.168.4.0/24 overlaps with pod_cidr 192.168.0.0/16"},
		"script":           {func(p map[string]any) { below(p, "external_lb_param")["script_path"] = "Scripts/lb.sh" }, `external_lb_param.script_path names a file that is not in the package: "Scripts/lb.sh"`},
		"user":             {func(p map[string]any) { delete(below(p, "worker_node"), "username") }, "worker_node.username is missing"},
		"password":         {func(p map[string]any) { delete(below(p, "ansible"), "password") }, "ansible.password is missing"},
		"mistyped":         {func(p map[string]any) { p["vim_nam"] = "x" }, `vim_nam is not known: did you mean "vim_name"?`},
		"relative":         {func(p map[string]any) { below(p, "ansible")["transferring_inventory_path"] = "inventory" }, `ansible.transferring_inventory_path must be the absolute path`},
		"sample": {func(p map[string]any) {
			below(p, "ansible")["transferring_inventory_path"] = "/home/ansible/kubespray/inventory/sample"
		}, "ansible.transferring_inventory_path holds kubespray itself"},
		"registry": {func(p map[string]any) {
			p["private_registry_connection_info"] = []any{map[string]any{"server": "192.168.0.10:5000"}}
		}, "private_registry_connection_info.0.connection_type"},
		"no workers":       {func(p map[string]any) { delete(p, "worker_node") }, "worker_node is missing"},
		"node port":        {func(p map[string]any) { below(p, "external_lb_param")["node_ports"] = []any{8383.0} }, "external_lb_param.node_ports has the port of the API server, 8383"},
		"inner passphrase": {func(p map[string]any) { below(p, "worker_node")["private_key_passphrase"] = "x" }, "worker_node cannot be used to log in: a passphrase is given without a private key"},
		"encrypted key": {func(p map[string]any) {
			worker := below(p, "worker_node")
			delete(worker, "password")
			worker["private_key"], worker["private_key_passphrase"] = encryptedKey(t, "x"), "x"
		}, "worker_node.private_key_passphrase cannot be used: Ansible cannot ask for it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := read(t, specified, c.edit)
			found := false
			for _, p := range problems {
				found = found || strings.Contains(p, c.want)
				assert.NotContains(t, p, "password1")
			}
			assert.True(t, found, "%s\nis not among\n%s", c.want, strings.Join(problems, "\n"))
		})
	}
}
