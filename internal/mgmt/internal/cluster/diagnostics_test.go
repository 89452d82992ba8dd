package cluster_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
)

// points are the connection points that a diagnostic lists.
const points = `the servers of deployment flavour "simple" have masterNode_CP1, workerNode_CP2, externalLB_CP1; name the port: connections use its floating address where it has one`

// Each bad input is one diagnostic, which says where it is and what to do.
func TestDiagnostics(t *testing.T) {
	set := func(object, name string, value any) func(map[string]any) {
		return func(p map[string]any) {
			if object == "" {
				p[name] = value
				return
			}
			below(p, object)[name] = value
		}
	}
	for _, c := range []struct {
		edit func(map[string]any)
		want string
	}{
		{set("", "script_path", "Scripts/install.sh"), `script_path cannot be used: kubespray installs the cluster: remove it, or have the VNFD name the management driver "mgmt-drivers-kubernetes", which runs a script of the package`},
		{set("", "drain_timeout", "soon"), `drain_timeout must be a duration, not "soon": for example 10m`},
		{set("", "drain_timeout", "-1m"), `drain_timeout must be a duration, not "-1m": for example 10m`},
		{set("", "vim_name", []any{}), "vim_name must be a string, not a list"},
		{set("", "script_timeout", "1m"), `script_timeout is not known: did you mean "script_path"? known here are ansible, drain_timeout, external_lb_param, master_node, private_registry_connection_info, proxy, script_path, vim_name, worker_node`},
		{set("", "ansible", "host"), "ansible must be an object, not text"},
		{set("", "master_node", []any{}), "master_node must be an object, not a list"},
		{set("", "external_lb_param", true), "external_lb_param must be an object, not a boolean"},
		{set("", "proxy", "http://192.0.2.1"), "proxy must be an object, not text"},
		{set("", "private_registry_connection_info", "a"), "private_registry_connection_info must be a list of objects, not text"},

		{set("ansible", "ip_address", "ansible.example.org"), `ansible.ip_address must be the IP address of the server that runs Ansible, not "ansible.example.org"`},
		{set("ansible", "port", 70000.0), "ansible.port must be a whole number between 1 and 65535"},
		{set("ansible", "timeout", "0s"), `ansible.timeout must be a duration, not "0s": for example 10m`},
		{set("ansible", "kubespray_root_path", "kubespray"), `ansible.kubespray_root_path must be the absolute path of kubespray on the Ansible server, not "kubespray"`},
		{set("ansible", "transferring_inventory_path", "/"), holdsKubespray},
		{set("ansible", "transferring_inventory_path", "/home/ansible"), holdsKubespray},
		{set("ansible", "transferring_inventory_path", "/home/ansible/kubespray/"), holdsKubespray},
		{set("ansible", "transferring_inventory_path", "/home/ansible/kubespray/inventory"), holdsKubespray},
		{set("ansible", "transferring_inventory_path", "/home/ansible/edge/../kubespray/inventory/sample/edge"), holdsKubespray},
		{set("ansible", "transferring_inventory_path", "/home/ansible/kubespray/inventory/sample2"), ""},
		{set("ansible", "group_vars", []any{}), "ansible.group_vars must be an object of Ansible variables"},
		{
			set("ansible", "group_vars", map[string]any{"kube-version": "1.31.9"}),
			"ansible.group_vars.kube-version is not a valid name of an Ansible variable: a name has letters, digits and underscores, and does not begin with a digit",
		},
		{set("ansible", "host_key_policy", "none"), `ansible.host_key_policy must be "pin" or "strict", not "none": "pin" keeps the key that a host shows first, "strict" takes those of host_keys alone`},

		{set("master_node", "ssh_cp_name", "masterNode_CP2"), `master_node.ssh_cp_name names no connection point of a server: "masterNode_CP2": did you mean "masterNode_CP1"? ` + points},
		{set("master_node", "nic_cp_name", "workerNode_CP2"), "master_node.nic_cp_name is of VDU workerNode, and ssh_cp_name of VDU masterNode"},
		{set("master_node", "cluster_cp_name", "cp"), `master_node.cluster_cp_name names no connection point of a server: "cp": ` + points},
		{set("master_node", "aspect_id", "worker_instance"), `master_node.aspect_id names a scaling aspect that does not scale VDU masterNode: "worker_instance": it scales workerNode`},
		{set("master_node", "pod_cidr", "all"), `master_node.pod_cidr must be a network in CIDR form, not "all": for example 10.233.64.0/18`},
		{set("master_node", "boot_timeout", "long"), `master_node.boot_timeout must be a duration, not "long": for example 10m`},
		{set("worker_node", "host_keys", []any{"ssh-ed25519"}), `worker_node cannot be used to log in: "ssh-ed25519" is not a host key: a host key is one line such as "ssh-ed25519 AAAA…", as ssh-keyscan prints it`},
		{set("worker_node", "private_key", "planted"), "worker_node cannot be used to log in: the private key cannot be read: it must be PEM, of OpenSSH or PKCS"},
		{set("worker_node", "jump_host", map[string]any{"username": "root", "password": "x"}), "worker_node.jump_host.address is missing"},
		{set("worker_node", "ssh_port", "ssh"), "worker_node.ssh_port must be a whole number between 1 and 65535"},
		{set("worker_node", "ssh_agent", "maybe"), "worker_node.ssh_agent must be true or false"},
		{set("worker_node", "pod_cidr", "10.1.0.0/16"), "warning: worker_node.pod_cidr is not used: the networks of the cluster are those of master_node"},
		{
			func(p map[string]any) {
				below(p, "worker_node")["ssh_cp_name"], below(p, "worker_node")["nic_cp_name"] = "masterNode_CP1", "masterNode_CP1"
				delete(below(p, "worker_node"), "aspect_id")
			},
			"worker_node.ssh_cp_name is of VDU masterNode, whose servers are the masters: each role needs a VDU of its own",
		},
		{
			func(p map[string]any) {
				delete(below(p, "worker_node"), "password")
				below(p, "worker_node")["ssh_agent"] = true
			},
			"worker_node.ssh_agent cannot be used: Ansible has no agent: the host of Ansible logs in to the servers itself: give a password or a private_key",
		},

		{set("external_lb_param", "ssh_cp_name", "workerNode_CP2"), "external_lb_param.ssh_cp_name is of VDU workerNode, whose servers are the workers: each role needs a VDU of its own"},
		{set("external_lb_param", "script_path", "Scripts"), `external_lb_param.script_path names a file that is not in the package: "Scripts"`},
		{set("external_lb_param", "script_path", "../lb.sh"), `external_lb_param.script_path names a file that is not in the package: "../lb.sh"`},
		{set("external_lb_param", "script_path", "/etc/passwd"), `external_lb_param.script_path names a file that is not in the package: "/etc/passwd"`},
		{set("external_lb_param", "script_path", "Scripts/large.sh"), "external_lb_param.script_path cannot be used: Scripts/large.sh of the package is not a script, or is larger than 1 MiB"},
		{set("external_lb_param", "api_port", 0.0), "external_lb_param.api_port must be a whole number between 1 and 65535"},

		{set("proxy", "https_proxy", "192.0.2.1:3128"), "proxy.https_proxy is not a valid URL of a proxy: for example http://user:password@192.0.2.1:3128"},
		{set("proxy", "k8s_node_cidr", ""), ""},
		{set("proxy", "k8s_node_cidr", "10.10.0.0"), `proxy.k8s_node_cidr must be a network in CIDR form, not "10.10.0.0": for example 10.233.64.0/18`},
	} {
		_, problems := readAs(t, cluster.Kubespray, strings.ReplaceAll(specified, "192.168.3.0/16", "192.168.0.0/16"), false, c.edit)
		assert.Equal(t, c.want, strings.Join(problems, "\n"))
	}
}

const holdsKubespray = "ansible.transferring_inventory_path holds kubespray itself: it is removed with the cluster: name a folder of the cluster's own"

// The parameters of a script of the package.
func TestDiagnostics_script(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"script_path", "Scripts/install.sh", ""},
		{"script_path", "", "script_path is missing: the path of the script in the package"},
		{"script_path", "Scripts/setup.sh", `script_path names a file that is not in the package: "Scripts/setup.sh"`},
		{"script_path", "Scripts/large.sh", "script_path cannot be used: Scripts/large.sh of the package is not a script, or is larger than 1 MiB"},
		{"script_path", 1.0, `script_path names a file that is not in the package: "1"`},
		{"script_timeout", "1 hour", `script_timeout must be a duration, not "1 hour": for example 10m`},
	} {
		_, problems := readAs(t, cluster.Script, strings.ReplaceAll(specified, "192.168.3.0/16", "192.168.0.0/16"), false, func(p map[string]any) {
			delete(p, "ansible")
			p["script_path"] = "Scripts/install.sh"
			p[c.name] = c.value
		})
		assert.Equal(t, c.want, strings.Join(problems, "\n"))
	}
}

// Unknown values are neither rejected nor replaced by defaults.
func TestLater(t *testing.T) {
	s, problems := readAs(t, cluster.Kubespray, specified, true, func(p map[string]any) {
		for object, names := range map[string][]string{
			"ansible":           {"ip_address", "username", "password", "kubespray_root_path", "transferring_inventory_path", "group_vars", "timeout"},
			"master_node":       {"aspect_id", "ssh_cp_name", "nic_cp_name", "cluster_cp_name", "pod_cidr"},
			"worker_node":       {"password", "username"},
			"external_lb_param": {"api_port", "script_path"},
			"proxy":             {"http_proxy", "k8s_node_cidr"},
		} {
			for _, name := range names {
				below(p, object)[name] = nil
			}
		}
		// It is within the default of what is known later.
		below(p, "master_node")["cluster_cidr"] = "192.168.4.0/24"
		p["private_registry_connection_info"] = nil
	})
	assert.Empty(t, problems)
	assert.Empty(t, s.Ansible.Root)
	assert.Empty(t, s.Ansible.Inventory)
	assert.False(t, s.PodCIDR.IsValid())
	assert.Equal(t, "192.168.4.0/24", s.ServiceCIDR.String())
}
