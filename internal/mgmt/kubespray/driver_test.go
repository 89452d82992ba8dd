package kubespray_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/kubespray"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/nodetest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// kubectl finds every node, prints the versions in a file, and has no ConfigMap.
const kubectl = `
case "$*" in
*"--raw /version") [ ! -e /run/version ] || printf '{\n "gitVersion": "v%s"\n}' "$(cat /run/version)" ;;
*"get nodes --output "*kubeletVersion*) [ ! -e /run/kubelets ] || cat /run/kubelets ;;
"get node "*) echo "node/$3" ;;
esac
`

// etcdctl lists the members that are in a file.
const etcdctl = "\ncat /run/members\n"

// testEnv is an instance whose servers become a cluster by a tree of kubespray.
type testEnv struct {
	*nodetest.Instance
	// tree is the folder of kubespray, inventory the folder of the inventory of the cluster.
	tree, inventory string
	// installed are the calls that have made the cluster.
	installed []kubespraytest.Recorded
}

// newTestEnv is a cluster of masters and workers on a release of kubespray, which is installed.
func newTestEnv(t *testing.T, release string, masters, workers int) *testEnv {
	t.Helper()
	return newTestEnvOn(t, kubespraytest.Shape(t, release), masters, workers)
}

// newTestEnvOn is a cluster on a tree of kubespray that may be written to.
func newTestEnvOn(t *testing.T, tree string, masters, workers int) *testEnv {
	t.Helper()
	kubespraytest.Record(t, tree, kubespraytest.AtLeast(t, tree), kubespraytest.Effects)
	w := newInstance(t, ansibleServer{tree: tree, Server: sshtest.New(t, sshtest.Options{Env: []string{"HOME=" + t.TempDir()}})}, "7", "127.0.7.")
	w.install(t, masters, workers)
	w.installed = w.take(t)
	require.Len(t, w.installed, 1)
	return w
}

// ansibleServer is a server with Ansible and a tree of kubespray, for any number of clusters.
type ansibleServer struct {
	*sshtest.Server
	tree string
}

// newInstance is an instance without servers.
func newInstance(t *testing.T, server ansibleServer, id, network string) *testEnv {
	t.Helper()
	w := &testEnv{Instance: nodetest.New(t, id, network, kubespray.New(), map[string]string{"kubectl": kubectl, "etcdctl.sh": etcdctl}), tree: server.tree}
	w.inventory = filepath.Join(t.TempDir(), "edge")
	host := server.Host()
	w.Params()["ansible"] = map[string]any{
		"ip_address": host.Address, "port": int64(host.Port), "username": host.User, "password": host.Password.Reveal(),
		"kubespray_root_path": w.tree, "transferring_inventory_path": w.inventory, "group_vars": map[string]any{},
	}
	return w
}

// install makes the cluster.
func (w *testEnv) install(t *testing.T, masters, workers int) {
	t.Helper()
	for n := 1; n <= masters; n++ {
		w.master(t, n)
	}
	for n := 1; n <= workers; n++ {
		w.worker(t, n)
	}
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
}

// groupVars are the variables of the parameters.
func (w *testEnv) groupVars() map[string]any {
	vars, _ := w.Below("ansible")["group_vars"].(map[string]any)
	return vars
}

// master adds the server m1, m2 and so on, and worker w1, w2.
func (w *testEnv) master(t *testing.T, n int) {
	t.Helper()
	kubespraytest.AddHost(t, w.tree, w.Master(t, fmt.Sprintf("m%d", n), n))
}

func (w *testEnv) worker(t *testing.T, n int) {
	t.Helper()
	kubespraytest.AddHost(t, w.tree, w.Worker(t, fmt.Sprintf("w%d", n), 10+n))
}

// replaceTree replaces the tree with another release.
func (w *testEnv) replaceTree(t *testing.T, release string) {
	t.Helper()
	kubespraytest.Replace(t, w.tree, release)
}

func (w *testEnv) take(t *testing.T) []kubespraytest.Recorded {
	t.Helper()
	return kubespraytest.Take(t, w.tree)
}

// playbooks are the names of the playbooks that were called.
func playbooks(calls []kubespraytest.Recorded) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Playbook)
	}
	return out
}

// readFile is a file of the inventory of a call; empty when there is none.
func readFile(t *testing.T, call kubespraytest.Recorded, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(call.Folder, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
