package kubespray_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/kubespray"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// kubectl knows every node, says the version that is in a file, and has no ConfigMap.
const kubectl = `
case "$*" in
*"--raw /version") [ ! -e /run/version ] || printf '{\n "gitVersion": "v%s"\n}' "$(cat /run/version)" ;;
*"get nodes --output "*kubeletVersion*) [ ! -e /run/kubelets ] || cat /run/kubelets ;;
"get node "*) echo "node/$3" ;;
esac
`

// etcdctl lists the members that are in a file.
const etcdctl = "\ncat /run/members\n"

// effects has masters of an inventory be such, and an upgrade reach them and the kubelets. ROOTS are the folders of the hosts.
const effects = `
version=$(sed -n 's/^kube_version: *"*v*\([0-9.]*\).*/\1/p' "$2/group_vars/k8s_cluster/zz-vnf.yml")
for root in ROOTS; do
	case $1 in
	cluster.yml)
		mkdir -p "$root/etc/kubernetes"
		echo '{"clusters": [{"cluster": {"server": "https://nobody:6443"}, "name": "k"}]}' >"$root/etc/kubernetes/admin.conf"
		[ -e "$root/run/version" ] || echo "${version:-1.30.4}" >"$root/run/version"
		;;
	upgrade-cluster.yml)
		echo "$version" >"$root/run/version"
		echo "node master1 v$version" >"$root/run/kubelets"
		;;
	esac
done
`

func flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "masterNode"}, {ID: "workerNode"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "masterNode_CP1", VDUID: "masterNode"}, {ID: "workerNode_CP2", VDUID: "workerNode"}},
		Aspects:          []vnfm.ScalingAspect{{ID: "master_instance"}, {ID: "worker_instance"}},
	}
}

// testEnv is an instance, and all that the driver has in hand at its hooks.
type testEnv struct {
	labtest.HostKeys
	call  *vnfm.HookCall
	has   *vnfm.ResourceInfo
	hosts map[string]*hosttest.Host
	// port is that of SSH on all servers, tree the folder of kubespray, inventory that of the cluster.
	port            int
	tree, inventory string
	state           json.RawMessage
	// installed are the calls that have made the cluster.
	installed []kubespraytest.Recorded
}

func (*testEnv) SaveInventory(context.Context, []vnfm.InventoryItem) error { return nil }
func (*testEnv) SetNote(context.Context, string, string) error             { return nil }
func (*testEnv) Note(string) string                                        { return "" }
func (*testEnv) Progress(context.Context, string)                          {}
func (*testEnv) DeregisterVIM(context.Context, string) error               { return nil }

func (w *testEnv) Load(into any) error {
	if w.state == nil {
		return nil
	}
	return json.Unmarshal(w.state, into)
}

func (w *testEnv) Save(_ context.Context, value any) (err error) {
	w.state, err = json.Marshal(value)
	return err
}

func (*testEnv) RegisterVIM(_ context.Context, id string, _ vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	return &vnfm.VIM{ID: id}, nil, nil
}

// newTestEnv is a cluster of masters and workers on a release of kubespray, which is installed.
func newTestEnv(t *testing.T, release string, masters, workers int) *testEnv {
	t.Helper()
	return newTestEnvOn(t, kubespraytest.Shape(t, release), masters, workers)
}

// newTestEnvOn is a cluster on a tree of kubespray that may be written to.
func newTestEnvOn(t *testing.T, tree string, masters, workers int) *testEnv {
	t.Helper()
	w := &testEnv{hosts: map[string]*hosttest.Host{}, has: &vnfm.ResourceInfo{}, port: porttest.Free(t), tree: tree}
	w.inventory = filepath.Join(t.TempDir(), "edge")
	server := sshtest.New(t, sshtest.Options{Env: []string{"HOME=" + t.TempDir()}})
	login := func(role, point string) map[string]any {
		return map[string]any{"aspect_id": role, "ssh_cp_name": point, "username": "root", "password": "debian", "port": int64(w.port)}
	}
	host := server.Host()
	w.call = &vnfm.HookCall{
		Params: map[string]any{"k8s_cluster_installation_param": map[string]any{
			"master_node": login("master_instance", "masterNode_CP1"), "worker_node": login("worker_instance", "workerNode_CP2"),
			"ansible": map[string]any{
				"ip_address": host.Address, "port": int64(host.Port), "username": host.User, "password": host.Password.Reveal(),
				"kubespray_root_path": w.tree, "transferring_inventory_path": w.inventory, "group_vars": map[string]any{},
			},
		}},
		Instance: &vnfm.Instance{ID: "7", Name: "core"}, Flavour: flavour(), Package: &vnfm.Package{Content: fstest.MapFS{}},
		Resources: func(context.Context) (*vnfm.ResourceInfo, error) { return w.has, nil },
		Recorder:  w, HostKeys: w, State: w, VIMs: w, DigestKey: []byte("key"),
	}
	for n := 1; n <= masters; n++ {
		w.node(t, fmt.Sprintf("m%d", n), "masterNode", "masterNode_CP1", n)
	}
	for n := 1; n <= workers; n++ {
		w.node(t, fmt.Sprintf("w%d", n), "workerNode", "workerNode_CP2", 10+n)
	}
	require.NoError(t, w.at(t, vnfm.OpInstantiate, true))
	w.installed = w.take(t)
	require.Len(t, w.installed, 1)
	return w
}

// groupVars are the variables of the parameters.
func (w *testEnv) groupVars() map[string]any {
	params, _ := w.call.Params["k8s_cluster_installation_param"].(map[string]any)
	ansible, _ := params["ansible"].(map[string]any)
	vars, _ := ansible["group_vars"].(map[string]any)
	return vars
}

// node adds a server of a VDU; its last byte is that of the address.
func (w *testEnv) node(t *testing.T, id, vdu, point string, last int) {
	t.Helper()
	address := fmt.Sprintf("127.0.7.%d", last)
	w.hosts[id] = hosttest.NewAt(t, address, w.port, map[string]string{"kubectl": kubectl, "etcdctl.sh": etcdctl})
	w.has.VNFCs = append(w.has.VNFCs, vnfm.VNFC{
		ID: id, VDUID: vdu, State: "ACTIVE", Addresses: []string{address}, ConnectionPoints: map[string][]string{point: {address}},
	})
	w.record(t)
}

// replaceTree replaces the tree with that of another release.
func (w *testEnv) replaceTree(t *testing.T, release string) {
	t.Helper()
	other := kubespraytest.Shape(t, release)
	require.NoError(t, os.RemoveAll(w.tree))
	require.NoError(t, os.Rename(other, w.tree))
	w.record(t)
}

// record has the tree keep its calls, with effects on all hosts.
func (w *testEnv) record(t *testing.T) {
	t.Helper()
	var roots []string
	for _, h := range w.hosts {
		roots = append(roots, "'"+h.Root+"'")
	}
	slices.Sort(roots)
	kubespraytest.Record(t, w.tree, kubespraytest.AtLeast(t, w.tree), strings.ReplaceAll(effects, "ROOTS", strings.Join(roots, " ")))
}

// each writes a file of all hosts.
func (w *testEnv) each(t *testing.T, path, content string) {
	t.Helper()
	for _, h := range w.hosts {
		h.Write(t, path, content)
	}
}

// gone takes a server away.
func (w *testEnv) gone(id string) {
	w.has.VNFCs = slices.DeleteFunc(w.has.VNFCs, func(c vnfm.VNFC) bool { return c.ID == id })
}

// at runs the driver at a hook.
func (w *testEnv) at(t *testing.T, kind vnfm.OperationType, end bool, leaving ...string) error {
	t.Helper()
	w.call.Operation, w.call.End, w.call.Leaving = kind, end, leaving
	return kubespray.New().Run(t.Context(), w.call)
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
