package kubespray_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// realTree is the variable of the environment with the folder of a real tree of kubespray. The ansible-playbook of the path must be of
// its window.
const realTree = "KUBESPRAY_TREE"

// TestRealTree has a real tree of kubespray read each command line that the driver makes, with its inventory: the syntax of the
// playbooks, their tasks, and the hosts that they are for. The removal of a dead master is run as well.
func TestRealTree(t *testing.T) {
	tree := os.Getenv(realTree)
	if tree == "" {
		t.Skip(realTree + " names no tree of kubespray")
	}
	copied := filepath.Join(t.TempDir(), "kubespray")
	require.NoError(t, os.CopyFS(copied, os.DirFS(tree)))
	require.NoError(t, os.RemoveAll(filepath.Join(copied, "venv")))
	var calls []kubespraytest.Recorded
	w := newTestEnvOn(t, copied, 3, 1)
	keep := func(err error) {
		t.Helper()
		require.NoError(t, err)
		calls = append(calls, w.take(t)...)
	}
	calls = append(calls, w.installed...)
	for n, plugin := range []string{"calico", "cilium", "flannel"} {
		w.groupVars()["kube_network_plugin"] = plugin
		kubespraytest.AddHost(t, w.tree, w.Worker(t, plugin, 12+n))
		keep(w.At(t, vnfm.OpScale, true))
		keep(w.At(t, vnfm.OpScale, false, plugin))
		w.Gone(plugin)
	}
	delete(w.groupVars(), "kube_network_plugin")
	newest := newestVersion(t, tree)
	w.groupVars()["kube_version"] = newest
	var major, minor int
	_, err := fmt.Sscanf(newest, "%d.%d.", &major, &minor)
	require.NoError(t, err)
	w.Each(t, "/run/version", fmt.Sprintf("%d.%d.0\n", major, minor-1))
	keep(w.At(t, vnfm.OpModifyInfo, true))
	keep(w.At(t, vnfm.OpHeal, false, "m1"))
	w.Gone("m1")
	w.master(t, 4)
	keep(w.At(t, vnfm.OpHeal, true, "m1"))
	installed := w.State()
	w.Gone("m3")
	const other = "a1, started, etcd2, https://127.0.7.2:2380, https://127.0.7.2:2379, false\n"
	w.Each(t, "/run/members", other+"c3, started, etcd3, https://127.0.7.3:2380, https://127.0.7.3:2379, false\n")
	keep(w.At(t, vnfm.OpHeal, false, "m3"))
	removal := calls[len(calls)-1]
	w.SetState(installed)
	w.Each(t, "/run/members", other)
	keep(w.At(t, vnfm.OpHeal, false, "m3"))
	again := calls[len(calls)-1]
	assert.Equal(t, "c3", removedMember(t, copied, removal, true), "the member of a dead master")
	assert.Empty(t, removedMember(t, copied, again, false), "a member that is gone already")

	seen := map[string]bool{}
	for _, call := range calls {
		for _, question := range []string{"--syntax-check", "--list-tasks", "--list-hosts"} {
			said := realAnsible(t, copied, append([]string{question}, call.Args...))
			if question == "--list-hosts" {
				checkHosts(t, call, said)
			}
		}
		seen[call.Playbook] = true
	}
	t.Logf("%d command lines", len(calls))
	for _, playbook := range []string{"cluster.yml", "scale.yml", "remove-node.yml", "upgrade-cluster.yml"} {
		assert.True(t, seen[playbook], playbook)
	}
}

// newestKubelet is the head of the list of kubelets that a tree can install, which begins with the newest one.
var newestKubelet = regexp.MustCompile(`(?s)\nkubelet_checksums:.*?\n  amd64:\n    v?([0-9.]+):`)

// newestVersion is the newest Kubernetes that a tree can install.
func newestVersion(t *testing.T, tree string) string {
	t.Helper()
	for _, pattern := range []string{"roles/kubespray*/vars/main/checksums.yml", "roles/kubespray*/defaults/main/checksums.yml", "roles/download/defaults/main/checksums.yml", "roles/download/defaults/main.yml"} {
		files, err := filepath.Glob(filepath.Join(tree, pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if m := newestKubelet.FindSubmatch(text); m != nil {
				return string(m[1])
			}
		}
	}
	t.Fatal("the tree lists no kubelets")
	return ""
}

// realAnsible runs ansible-playbook in a tree, and returns what it says.
func realAnsible(t *testing.T, tree string, args []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ansible-playbook", args...) //nolint:gosec // The command lines of the driver.
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "ANSIBLE_CACHE_PLUGIN=jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION="+t.TempDir(), "ANSIBLE_LOCAL_TEMP="+t.TempDir(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// fakeEtcdctl lists members and records removed ones. The address of one member is a prefix of another's.
const fakeEtcdctl = `#!/bin/sh
case "$*" in
*"member list"*json*) cat HERE/members.json ;;
*"member list"*) cat HERE/members ;;
*"member remove"*) echo "$3" >>HERE/removed; echo "Removed member $3" ;;
esac
`

// removedMember runs the removal of a dead master on this machine, with programs of the test for kubectl and etcdctl, and returns which
// members of etcd it removes. Nothing is reset: the node is dead.
func removedMember(t *testing.T, tree string, call kubespraytest.Recorded, member bool) string {
	t.Helper()
	require.Equal(t, false, call.Extra["reset_nodes"])
	here := t.TempDir()
	simple, encoded := "d4, started, etcd30, https://127.0.7.30:2380, https://127.0.7.30:2379, false\n", `{"ID": 212, "peerURLs": ["https://127.0.7.30:2380"]}`
	if member {
		simple, encoded = simple+"c3, started, etcd3, https://127.0.7.3:2380, https://127.0.7.3:2379, false\n", encoded+`, {"ID": 195, "peerURLs": ["https://127.0.7.3:2380"]}`
	}
	for name, text := range map[string]string{
		"etcdctl": strings.ReplaceAll(fakeEtcdctl, "HERE", here), "kubectl": "#!/bin/sh\ncase $* in *jsonpath*) echo '[\"127.0.7.3\"]' ;; esac\n",
		"members": simple, "members.json": `{"members": [` + encoded + `]}`, "removed": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(here, name), []byte(text), 0o700)) //nolint:gosec // They are run.
	}
	vars := "ansible_connection: local\nansible_python_interpreter: /usr/bin/python3\nbin_dir: " + here + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(call.Folder, "group_vars", "all", "zzz-test.yml"), []byte(vars), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(call.Folder, "group_vars", "k8s_cluster", "zzz-test.yml"), []byte(vars), 0o600))
	said := realAnsible(t, tree, call.Args)
	removed, err := os.ReadFile(filepath.Join(here, "removed"))
	require.NoError(t, err, said)
	return strings.TrimSpace(string(removed))
}

// checkHosts compares the hosts of the plays with the node or the limit of a call, else with all nodes.
func checkHosts(t *testing.T, call kubespraytest.Recorded, said string) {
	t.Helper()
	hosts := map[string]bool{}
	for line := range strings.Lines(said) {
		if name := strings.TrimSpace(line); call.Hosts[name] != nil {
			hosts[name] = true
		}
	}
	node, _ := call.Extra["node"].(string)
	for name := range call.Hosts {
		switch {
		case node == name:
			assert.True(t, hosts[name], "%s of %s", name, call.Playbook)
		case node == "" && len(call.Limit) == 0:
			assert.True(t, hosts[name], "%s of %s", name, call.Playbook)
		case len(call.Limit) > 0:
			assert.Equal(t, strings.Contains(","+strings.Join(call.Limit, ",")+",", ","+name+","), hosts[name], "%s of %s --limit=%v", name, call.Playbook, call.Limit)
		}
	}
}
