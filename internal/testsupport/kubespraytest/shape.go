package kubespraytest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// window is what releases of kubespray with one window of ansible-core have in common.
type window struct {
	// atLeast and before bound ansible-core.
	atLeast, before string
	// filter is how the filter of addresses is written.
	filter string
	// member is the line that finds the member of etcd which leaves.
	member string
	// validate is the head of a play on the host of Ansible itself in remove_node.yml.
	validate string
	// configPath says that containerd has a folder of registries only when it is asked for.
	configPath bool
	// version is how kube_version is written.
	version string
}

const (
	grepMember  = `    shell: "set -o pipefail && {{ bin_dir }}/etcdctl member list | grep {{ node_ip }} | cut -d, -f1"`
	wordMember  = `    shell: "set -o pipefail && {{ bin_dir }}/etcdctl member list | grep -w {{ node_ip }} | cut -d, -f1"`
	indexMember = `      - "{{ ((etcd_members.stdout_lines | select('contains', '//' + node_ip + ':'))[0] | split(','))[0] }}"`
	peerMember  = `      - "{{ '%x' | format(((etcd_members.stdout | from_json).members | selectattr('peerURLs.0', '==', etcd_peer_url))[0].ID) }}"`
	safeMember  = "      - \"{{ '%x' | format(etcd_removed_nodes[0].ID) }}\"\n    when: etcd_removed_nodes != []"
)

// windows are the releases whose shape is known, by the first two numbers of their version.
var windows = map[string]window{
	"2.22": {"2.11.0", "2.13.0", "ipaddr", grepMember, "", true, "v1.26.5"},
	"2.23": {"2.14.0", "2.15.0", "ipaddr", grepMember, "", true, "v1.27.7"},
	"2.24": {"2.15.5", "2.17.0", "ansible.utils.ipaddr", grepMember, "", true, "v1.28.6"},
	"2.25": {"2.16.4", "2.17.0", "ansible.utils.ipaddr", grepMember, "", true, "v1.29.5"},
	"2.26": {"2.16.4", "2.17.0", "ansible.utils.ipaddr", wordMember, "", true, "v1.30.4"},
	"2.27": {"2.16.4", "2.17.0", "ansible.utils.ipaddr", indexMember, "", false, "v1.31.9"},
	"2.28": {"2.16.4", "2.17.0", "ansible.utils.ipaddr", indexMember, "- hosts: localhost\n", false, ""},
	"2.29": {"2.17.3", "2.18.0", "ansible.utils.ipaddr", peerMember, "- hosts: localhost\n  gather_facts: false\n  become: false\n", false, ""},
	"2.30": {"2.17.3", "2.18.0", "ansible.utils.ipaddr", peerMember, "- hosts: localhost\n  gather_facts: false\n  become: false\n", false, ""},
	"2.31": {"2.18.0", "2.19.0", "ansible.utils.ipaddr", safeMember, "- hosts: localhost\n  gather_facts: false\n  become: false\n", false, ""},
}

// Releases are the releases that Shape knows, in the order of their versions.
func Releases() []string { return slices.Sorted(maps.Keys(windows)) }

// Shape writes files of the shape that a release has to a folder of the test, and returns it: what a reader of the tree finds, and
// no playbook that could be run.
func Shape(t testing.TB, release string) string {
	t.Helper()
	w, known := windows[release]
	require.True(t, known, "the shape of kubespray %s is not known", release)
	defaults := "roles/kubespray_defaults/defaults/main/main.yml"
	version := "kube_version: \"{{ (kubelet_checksums['amd64'] | dict2items)[0].key }}\"\n"
	files := map[string]string{}
	if w.version != "" {
		defaults, version = "roles/kubespray-defaults/defaults/main.yaml", "kube_version: "+w.version+"\n"
		files["inventory/sample/group_vars/k8s_cluster/k8s-cluster.yml"] = version + "kube_network_plugin: calico\n"
	} else {
		files["inventory/sample/group_vars/k8s_cluster/k8s-cluster.yml"] = "kube_network_plugin: calico\n"
	}
	files[defaults] = version + "kube_service_first: \"{{ kube_service_addresses | " + w.filter + "('net') }}\"\n"
	files["playbooks/ansible_version.yml"] = fmt.Sprintf("- hosts: all\n  vars:\n    minimal_ansible_version: %s  # a remark\n    maximal_ansible_version: %s\n  tasks:\n"+
		"    - assert:\n        that:\n          - ansible_version.string is version(minimal_ansible_version, \">=\")\n", w.atLeast, w.before)
	files["playbooks/facts.yml"] = "- hosts: k8s_cluster:etcd:calico_rr\n"
	files["playbooks/cluster.yml"] = "- hosts: kube_control_plane\n"
	files["playbooks/remove_node.yml"] = w.validate + "- hosts: \"{{ node }}\"\n  tasks:\n    - pause:\n      when: not (skip_confirmation | default(false) | bool)\n"
	files["roles/remove-node/remove-etcd-node/tasks/main.yml"] = "- name: Remove etcd member from cluster\n  block:\n" + w.member + "\n"
	files["roles/container-engine/containerd/tasks/main.yml"] = "- community.general.ini_file:\n    path: /etc/containerd\n"
	registry := "    [plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
	if w.configPath {
		registry += "{% if containerd_use_config_path is defined and containerd_use_config_path|bool %}\n"
	}
	files["roles/container-engine/containerd/templates/config.toml.j2"] = registry + "      config_path = \"{{ containerd_cfg_dir }}/certs.d\"\n"
	for _, name := range []string{"cluster.yml", "scale.yml", "remove-node.yml", "upgrade-cluster.yml"} {
		files[name] = "- import_playbook: playbooks/" + strings.ReplaceAll(name, "-", "_") + "\n"
	}
	files["requirements.txt"] = "netaddr\n"
	return write(t, files)
}

// AtLeast is the first version of ansible-core that a tree of a shape takes.
func AtLeast(t testing.TB, tree string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tree, "playbooks", "ansible_version.yml"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "minimal_ansible_version:" {
			return words[1]
		}
	}
	t.Fatal("the tree names no version of ansible-core")
	return ""
}

// write writes files to a folder of the test.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
	}
	return root
}
