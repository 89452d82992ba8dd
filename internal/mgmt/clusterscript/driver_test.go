package clusterscript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/clusterscript"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// program installs a cluster that is a few files: it notes its calls, its environment and
// its standard input in /run of the node, and fails where /run/fail-<action> is. What it
// prints with "token" is seen nowhere.
const program = `#!/bin/sh
set -eu
[ "$(id -u)" = 0 ]
echo "$*" >>/run/calls
env | grep -E '^(VNF_|http)' | sort >"/run/$1.env"
cat >"/run/$1.json"
join=$(sed -n 's/.*"join":"\([^"]*\)".*/\1/p' "/run/$1.json")
case $1 in
token) echo "join $2 by token abcdef.planted-token-0123" ;;
*) echo "$1 on $VNF_NODE_NAME: $join" ;;
esac
if [ -e "/run/fail-$1" ]; then echo "disk is full, $join abcdef.planted-token-0123" >&2; exit 3; fi
case $1 in
init | join)
	mkdir -p /etc/kubernetes
	if [ "$VNF_ROLE" = master ]; then
		echo '{"clusters": [{"cluster": {"server": "https://nobody:6443"}, "name": "k"}]}' >/etc/kubernetes/admin.conf
	fi
	;;
reset) rm -rf /etc/kubernetes ;;
esac
`

// kubectl knows every node, and notes which are drained.
const kubectl = `
case $1 in
get) echo "node/$3" ;;
drain) echo "$2" >>/run/drained ;;
esac
`

func flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "masterNode"}, {ID: "workerNode"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "masterNode_CP1", VDUID: "masterNode"}, {ID: "workerNode_CP2", VDUID: "workerNode"}},
		Aspects:          []vnfm.ScalingAspect{{ID: "master_instance"}, {ID: "worker_instance"}},
	}
}

// testEnv is an instance, and all that a driver has in hand at its hooks.
type testEnv struct {
	labtest.HostKeys
	call  *vnfm.HookCall
	has   *vnfm.ResourceInfo
	hosts map[string]*hosttest.Host
	// port is that of SSH on all servers.
	port int

	mu    sync.Mutex
	state json.RawMessage
	lines []string
	vims  []vnfm.VIMSpec
}

func (*testEnv) SaveInventory(context.Context, []vnfm.InventoryItem) error { return nil }
func (*testEnv) SetNote(context.Context, string, string) error             { return nil }
func (*testEnv) Note(string) string                                        { return "" }

func (w *testEnv) Progress(_ context.Context, line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

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

func (w *testEnv) RegisterVIM(_ context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	w.vims = append(w.vims, spec)
	return &vnfm.VIM{ID: id}, nil, nil
}

func (*testEnv) DeregisterVIM(context.Context, string) error { return nil }

// node adds a server of a VDU; its last byte is that of the address.
func (w *testEnv) node(t *testing.T, id, vdu, point string, last int) *hosttest.Host {
	t.Helper()
	address := fmt.Sprintf("127.0.6.%d", last)
	w.hosts[id] = hosttest.NewAt(t, address, w.port, map[string]string{"kubectl": kubectl})
	w.has.VNFCs = append(w.has.VNFCs, vnfm.VNFC{
		ID: id, VDUID: vdu, State: "ACTIVE", Addresses: []string{address}, ConnectionPoints: map[string][]string{point: {address}},
	})
	return w.hosts[id]
}

func (w *testEnv) master(t *testing.T, id string, last int) *hosttest.Host {
	t.Helper()
	return w.node(t, id, "masterNode", "masterNode_CP1", last)
}

func (w *testEnv) worker(t *testing.T, id string, last int) *hosttest.Host {
	t.Helper()
	return w.node(t, id, "workerNode", "workerNode_CP2", last)
}

// gone takes a server away.
func (w *testEnv) gone(id string) {
	w.has.VNFCs = slices.DeleteFunc(w.has.VNFCs, func(c vnfm.VNFC) bool { return c.ID == id })
}

// at runs the driver at a hook.
func (w *testEnv) at(t *testing.T, kind vnfm.OperationType, end bool, leaving ...string) error {
	t.Helper()
	w.call.Operation, w.call.End, w.call.Leaving = kind, end, leaving
	return clusterscript.New().Run(t.Context(), w.call)
}

// calls are those of a node, and are forgotten.
func (w *testEnv) calls(t *testing.T, id string) []string {
	t.Helper()
	calls := w.hosts[id].Read(t, "/run/calls")
	require.NoError(t, os.RemoveAll(filepath.Join(w.hosts[id].Root, "run", "calls")))
	if calls == "" {
		return nil
	}
	return strings.Split(strings.TrimSpace(calls), "\n")
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	w := &testEnv{hosts: map[string]*hosttest.Host{}, has: &vnfm.ResourceInfo{}, port: porttest.Free(t)}
	login := func(role, point string) map[string]any {
		return map[string]any{"aspect_id": role, "ssh_cp_name": point, "username": "root", "password": "debian", "port": int64(w.port)}
	}
	w.call = &vnfm.HookCall{
		Params: map[string]any{"k8s_cluster_installation_param": map[string]any{
			"script_path": "./Scripts/install.sh", "vim_name": "edge",
			"master_node": login("master_instance", "masterNode_CP1"), "worker_node": login("worker_instance", "workerNode_CP2"),
			"proxy": map[string]any{"http_proxy": "http://user:planted-proxy@192.0.2.1:3128", "no_proxy": "10.0.0.0/8"},
		}},
		Instance: &vnfm.Instance{ID: "7", Name: "core"}, Flavour: flavour(),
		Package:   &vnfm.Package{Content: fstest.MapFS{"Scripts/install.sh": {Data: []byte(program)}}},
		Resources: func(context.Context) (*vnfm.ResourceInfo, error) { return w.has, nil },
		Recorder:  w, HostKeys: w, State: w, VIMs: w, DigestKey: []byte("key"),
	}
	return w
}

// unseen looks for secrets in what people see, and in what processes of the hosts are called with.
func (w *testEnv) unseen(t *testing.T, err error) {
	t.Helper()
	seen := append([]string{string(w.state)}, w.lines...)
	if err != nil {
		seen = append(seen, err.Error())
	}
	for _, h := range w.hosts {
		seen = append(seen, h.Commands()...)
	}
	for _, secret := range []string{"planted-token", "planted-proxy"} {
		assert.NotContains(t, strings.Join(seen, "\n"), secret)
	}
}

// An installation that fails at a node goes on with those that have not joined, and ends with
// a VIM. The join data is in the inventory, and nobody sees it.
func TestInstallationGoesOn(t *testing.T) {
	w := newTestEnv(t)
	w.master(t, "m1", 1)
	w.worker(t, "w1", 11)
	w.worker(t, "w2", 12).Write(t, "/run/fail-join", "")
	err := w.at(t, vnfm.OpInstantiate, true)
	require.ErrorContains(t, err, "node worker2: script Scripts/install.sh of the package with action join on root@127.0.6.12")
	require.ErrorContains(t, err, "ended with status 3:\ndisk is full, ")
	w.unseen(t, err)
	assert.Equal(t, []string{"init", "token worker"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "w1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "w2"))
	assert.Empty(t, w.vims)

	require.NoError(t, os.Remove(filepath.Join(w.hosts["w2"].Root, "run", "fail-join")))
	require.NoError(t, w.at(t, vnfm.OpInstantiate, true))
	w.unseen(t, nil)
	assert.Equal(t, []string{"token worker"}, w.calls(t, "m1"), "the cluster is not begun again")
	assert.Empty(t, w.calls(t, "w1"), "a node that has joined is left alone")
	assert.Equal(t, []string{"join"}, w.calls(t, "w2"))
	require.Len(t, w.vims, 1)
	assert.Contains(t, w.vims[0].Credentials[vnfm.CredentialKubeconfig].Reveal(), "https://127.0.6.1:6443")
	assert.Contains(t, w.lines, "worker2: join on worker2: (sensitive)")

	for _, want := range []string{
		"VNF_ROLE=worker", "VNF_NODE_NAME=worker2", "VNF_NODE_IP=127.0.6.12", "VNF_POD_CIDR=192.168.0.0/16", "VNF_SERVICE_CIDR=10.96.0.0/12", "VNF_ENDPOINT=127.0.6.1:6443",
		"VNF_MASTERS=master1=127.0.6.1", "VNF_WORKERS=worker1=127.0.6.11,worker2=127.0.6.12", "http_proxy=http://user:planted-proxy@192.0.2.1:3128",
	} {
		assert.Contains(t, strings.Split(w.hosts["w2"].Read(t, "/run/join.env"), "\n"), want)
	}
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.hosts["w2"].Read(t, "/run/join.json")), &got))
	assert.Equal(t, "join worker by token abcdef.planted-token-0123", got["join"])
	assert.Len(t, got["workers"], 2)
	require.NoError(t, w.at(t, vnfm.OpModifyInfo, true))
	assert.Empty(t, slices.Concat(w.calls(t, "m1"), w.calls(t, "w1"), w.calls(t, "w2")), "all nodes are ready")
}

// A token that is not had is an error without what was printed of it.
func TestTokenFails(t *testing.T) {
	w := newTestEnv(t)
	w.master(t, "m1", 1).Write(t, "/run/fail-token", "")
	w.worker(t, "w1", 11)
	err := w.at(t, vnfm.OpInstantiate, true)
	require.ErrorContains(t, err, "node master1: script Scripts/install.sh of the package with action token on root@127.0.6.1")
	require.ErrorContains(t, err, "disk is full")
	w.unseen(t, err)
	assert.Empty(t, w.calls(t, "w1"))
}

// The cluster forgets a worker before its server goes.
func TestScaleIn(t *testing.T) {
	w := newTestEnv(t)
	m := w.master(t, "m1", 1)
	w.worker(t, "w1", 11)
	w.worker(t, "w2", 12)
	require.NoError(t, w.at(t, vnfm.OpInstantiate, true))
	w.calls(t, "m1")
	w.calls(t, "w2")
	w.hosts["w2"].Write(t, "/run/fail-reset", "")
	require.ErrorContains(t, w.at(t, vnfm.OpScale, false, "w2"), "removing node worker2: node worker2: script Scripts/install.sh of the package with action reset")
	require.NoError(t, os.Remove(filepath.Join(w.hosts["w2"].Root, "run", "fail-reset")))
	require.NoError(t, w.at(t, vnfm.OpScale, false, "w2"))
	assert.Equal(t, []string{"forget worker2", "forget worker2"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"reset", "reset"}, w.calls(t, "w2"))
	assert.Contains(t, m.Read(t, "/run/drained"), "worker2\n")
	for _, want := range []string{"VNF_LEAVING_ROLE=worker", "VNF_LEAVING_IP=127.0.6.12", "VNF_WORKERS=worker1=127.0.6.11", "VNF_NODE_NAME=master1"} {
		assert.Contains(t, strings.Split(m.Read(t, "/run/forget.env"), "\n"), want)
	}
	w.gone("w2")
	require.NoError(t, w.at(t, vnfm.OpScale, true, "w2"))
	assert.Empty(t, w.calls(t, "m1"))

	// Out again: the name is free.
	w.worker(t, "w3", 13)
	require.NoError(t, w.at(t, vnfm.OpScale, true))
	assert.Equal(t, []string{"token worker"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "w3"))
	assert.Contains(t, w.hosts["w3"].Read(t, "/run/join.env"), "VNF_NODE_NAME=worker2\n")
}

// One of three masters is replaced: those that stay forget it, and the new one joins them.
func TestHealMaster(t *testing.T) {
	w := newTestEnv(t)
	for n := 1; n <= 3; n++ {
		w.master(t, fmt.Sprintf("m%d", n), n)
	}
	w.worker(t, "w1", 11)
	require.NoError(t, w.at(t, vnfm.OpInstantiate, true))
	assert.Equal(t, []string{"init", "token master", "token master", "token worker"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "m2"))
	assert.Equal(t, []string{"join"}, w.calls(t, "m3"))
	w.calls(t, "w1")

	// It is broken: what cannot be done on it is left.
	w.hosts["m1"].Write(t, "/run/fail-reset", "")
	require.NoError(t, w.at(t, vnfm.OpHeal, false, "m1"))
	assert.Equal(t, []string{"forget master1"}, w.calls(t, "m2"))
	assert.Contains(t, strings.Join(w.lines, "\n"), "node master1, which is replaced, was not reset")
	assert.Contains(t, w.hosts["m2"].Read(t, "/run/forget.env"), "VNF_LEAVING_ROLE=master\n")
	w.gone("m1")
	w.master(t, "m4", 4)
	require.NoError(t, w.at(t, vnfm.OpHeal, true, "m1"))
	assert.Equal(t, []string{"token master"}, w.calls(t, "m2"))
	assert.Equal(t, []string{"join"}, w.calls(t, "m4"))
	assert.Empty(t, slices.Concat(w.calls(t, "m3"), w.calls(t, "w1")))
	assert.Contains(t, w.hosts["m4"].Read(t, "/run/join.env"), "VNF_NODE_NAME=master1\n")
	require.Len(t, w.vims, 2)
	assert.Contains(t, w.vims[1].Credentials[vnfm.CredentialKubeconfig].Reveal(), "https://127.0.6.2:6443")
}
