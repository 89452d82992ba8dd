package kubespray_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
// playbooks, their tasks, and the hosts that they are for. Nothing is run.
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
		w.node(t, plugin, "workerNode", "workerNode_CP2", 12+n)
		keep(w.at(t, vnfm.OpScale, true))
		keep(w.at(t, vnfm.OpScale, false, plugin))
		w.gone(plugin)
	}
	delete(w.groupVars(), "kube_network_plugin")
	w.groupVars()["kube_version"] = "1.31.0"
	keep(w.at(t, vnfm.OpModifyInfo, true))
	keep(w.at(t, vnfm.OpHeal, false, "m1"))
	w.gone("m1")
	w.node(t, "m4", "masterNode", "masterNode_CP1", 4)
	keep(w.at(t, vnfm.OpHeal, true, "m1"))
	w.each(t, "/run/members", "a1, started, etcd2, https://127.0.7.2:2380, https://127.0.7.2:2379, false\n")
	w.gone("m3")
	keep(w.at(t, vnfm.OpHeal, false, "m3"))

	seen := map[string]bool{}
	for _, call := range calls {
		for _, question := range []string{"--syntax-check", "--list-tasks", "--list-hosts"} {
			cmd := exec.CommandContext(t.Context(), "ansible-playbook", append([]string{question}, call.Args...)...) //nolint:gosec // The command lines of the driver.
			cmd.Dir = copied
			cmd.Env = append(os.Environ(), "ANSIBLE_CACHE_PLUGIN=jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION="+t.TempDir(), "ANSIBLE_LOCAL_TEMP="+t.TempDir(), "LC_ALL=C.UTF-8")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s %s\n%s", question, strings.Join(call.Args, " "), out)
			if question == "--list-hosts" {
				checkHosts(t, call, string(out))
			}
		}
		seen[call.Playbook] = true
	}
	t.Logf("%d command lines", len(calls))
	for _, playbook := range []string{"cluster.yml", "scale.yml", "remove-node.yml", "upgrade-cluster.yml"} {
		assert.True(t, seen[playbook], playbook)
	}
}

// checkHosts looks for the nodes that a call is for among the hosts of its plays, and for those of a limit alone.
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
