package clusterscript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/clusterscript"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/nodetest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// program installs a cluster of a few files: it records its calls, its environment and its standard input in /run of the node, and fails
// if /run/fail-<action> exists. No output may contain the token.
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

// kubectl finds every node and records drained ones.
const kubectl = `
case $1 in
get) echo "node/$3" ;;
drain) echo "$2" >>/run/drained ;;
esac
`

// testEnv is an instance whose servers become a cluster by the program.
type testEnv struct{ *nodetest.Instance }

// calls returns the calls on a node since the last call of this function.
func (w *testEnv) calls(t *testing.T, id string) []string {
	t.Helper()
	calls := w.Hosts[id].Read(t, "/run/calls")
	require.NoError(t, os.RemoveAll(filepath.Join(w.Hosts[id].Root, "run", "calls")))
	if calls == "" {
		return nil
	}
	return strings.Split(strings.TrimSpace(calls), "\n")
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	w := &testEnv{nodetest.New(t, "7", "127.0.6.", clusterscript.New(), map[string]string{"kubectl": kubectl})}
	w.Call.Package.Content = fstest.MapFS{"Scripts/install.sh": {Data: []byte(program)}}
	w.Params()["script_path"], w.Params()["vim_name"] = "./Scripts/install.sh", "edge"
	w.Params()["proxy"] = map[string]any{"http_proxy": "http://user:planted-proxy@192.0.2.1:3128", "no_proxy": "10.0.0.0/8"}
	return w
}

// unseen looks for secrets in progress, errors, the record and the commands on the hosts.
func (w *testEnv) unseen(t *testing.T, err error) {
	t.Helper()
	seen := append(w.Lines(), string(w.State()))
	if err != nil {
		seen = append(seen, err.Error())
	}
	for _, h := range w.Hosts {
		seen = append(seen, h.Commands()...)
	}
	for _, secret := range []string{"planted-token", "planted-proxy"} {
		assert.NotContains(t, strings.Join(seen, "\n"), secret)
	}
}

// A failed installation resumes with the nodes that have not joined, and registers the VIM. The join data is in the inventory and in no
// output.
func TestInstallationGoesOn(t *testing.T) {
	w := newTestEnv(t)
	w.Master(t, "m1", 1)
	w.Worker(t, "w1", 11)
	w.Worker(t, "w2", 12).Write(t, "/run/fail-join", "")
	err := w.At(t, vnfm.OpInstantiate, true)
	require.ErrorContains(t, err, "node worker2: script Scripts/install.sh of the package with action join on root@127.0.6.12")
	require.ErrorContains(t, err, "ended with status 3:\ndisk is full, ")
	w.unseen(t, err)
	assert.Equal(t, []string{"init", "token worker"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "w1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "w2"))
	assert.Empty(t, w.VIMs())

	require.NoError(t, os.Remove(filepath.Join(w.Hosts["w2"].Root, "run", "fail-join")))
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	w.unseen(t, nil)
	assert.Equal(t, []string{"token worker"}, w.calls(t, "m1"), "the cluster is not begun again")
	assert.Empty(t, w.calls(t, "w1"), "a node that has joined is left alone")
	assert.Equal(t, []string{"join"}, w.calls(t, "w2"))
	require.Len(t, w.VIMs(), 1)
	assert.Contains(t, w.VIMs()[0].Credentials[vnfm.CredentialKubeconfig].Reveal(), "https://127.0.6.1:6443")
	assert.Contains(t, w.Lines(), "worker2: join on worker2: (sensitive)")

	for _, want := range []string{
		"VNF_ROLE=worker", "VNF_NODE_NAME=worker2", "VNF_NODE_IP=127.0.6.12", "VNF_POD_CIDR=192.168.0.0/16", "VNF_SERVICE_CIDR=10.96.0.0/12", "VNF_ENDPOINT=127.0.6.1:6443",
		"VNF_MASTERS=master1=127.0.6.1", "VNF_WORKERS=worker1=127.0.6.11,worker2=127.0.6.12", "http_proxy=http://user:planted-proxy@192.0.2.1:3128",
	} {
		assert.Contains(t, strings.Split(w.Hosts["w2"].Read(t, "/run/join.env"), "\n"), want)
	}
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.Hosts["w2"].Read(t, "/run/join.json")), &got))
	assert.Equal(t, "join worker by token abcdef.planted-token-0123", got["join"])
	assert.Len(t, got["workers"], 2)
	require.NoError(t, w.At(t, vnfm.OpModifyInfo, true))
	assert.Empty(t, slices.Concat(w.calls(t, "m1"), w.calls(t, "w1"), w.calls(t, "w2")), "all nodes are ready")
}

// The error of a failed action token does not contain its output.
func TestTokenFails(t *testing.T) {
	w := newTestEnv(t)
	w.Master(t, "m1", 1).Write(t, "/run/fail-token", "")
	w.Worker(t, "w1", 11)
	err := w.At(t, vnfm.OpInstantiate, true)
	require.ErrorContains(t, err, "node master1: script Scripts/install.sh of the package with action token on root@127.0.6.1")
	require.ErrorContains(t, err, "disk is full")
	w.unseen(t, err)
	assert.Empty(t, w.calls(t, "w1"))
}

// A worker is removed from the cluster before its server is deleted.
func TestScaleIn(t *testing.T) {
	w := newTestEnv(t)
	m := w.Master(t, "m1", 1)
	w.Worker(t, "w1", 11)
	w.Worker(t, "w2", 12)
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	w.calls(t, "m1")
	w.calls(t, "w2")
	w.Hosts["w2"].Write(t, "/run/fail-reset", "")
	require.ErrorContains(t, w.At(t, vnfm.OpScale, false, "w2"), "removing node worker2: node worker2: script Scripts/install.sh of the package with action reset")
	require.NoError(t, os.Remove(filepath.Join(w.Hosts["w2"].Root, "run", "fail-reset")))
	require.NoError(t, w.At(t, vnfm.OpScale, false, "w2"))
	assert.Equal(t, []string{"forget worker2", "forget worker2"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"reset", "reset"}, w.calls(t, "w2"))
	assert.Contains(t, m.Read(t, "/run/drained"), "worker2\n")
	for _, want := range []string{"VNF_LEAVING_ROLE=worker", "VNF_LEAVING_IP=127.0.6.12", "VNF_WORKERS=worker1=127.0.6.11", "VNF_NODE_NAME=master1"} {
		assert.Contains(t, strings.Split(m.Read(t, "/run/forget.env"), "\n"), want)
	}
	w.Gone("w2")
	require.NoError(t, w.At(t, vnfm.OpScale, true, "w2"))
	assert.Empty(t, w.calls(t, "m1"))

	// Scaling out again reuses the free name.
	w.Worker(t, "w3", 13)
	require.NoError(t, w.At(t, vnfm.OpScale, true))
	assert.Equal(t, []string{"token worker"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "w3"))
	assert.Contains(t, w.Hosts["w3"].Read(t, "/run/join.env"), "VNF_NODE_NAME=worker2\n")
}

// When one of three masters is replaced, it is removed from the cluster, and the new one joins.
func TestHealMaster(t *testing.T) {
	w := newTestEnv(t)
	for n := 1; n <= 3; n++ {
		w.Master(t, fmt.Sprintf("m%d", n), n)
	}
	w.Worker(t, "w1", 11)
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	assert.Equal(t, []string{"init", "token master", "token master", "token worker"}, w.calls(t, "m1"))
	assert.Equal(t, []string{"join"}, w.calls(t, "m2"))
	assert.Equal(t, []string{"join"}, w.calls(t, "m3"))
	w.calls(t, "w1")

	// The master is broken: a failed reset is ignored.
	w.Hosts["m1"].Write(t, "/run/fail-reset", "")
	require.NoError(t, w.At(t, vnfm.OpHeal, false, "m1"))
	assert.Equal(t, []string{"forget master1"}, w.calls(t, "m2"))
	assert.Contains(t, strings.Join(w.Lines(), "\n"), "node master1, which is replaced, was not reset")
	assert.Contains(t, w.Hosts["m2"].Read(t, "/run/forget.env"), "VNF_LEAVING_ROLE=master\n")
	w.Gone("m1")
	w.Master(t, "m4", 4)
	require.NoError(t, w.At(t, vnfm.OpHeal, true, "m1"))
	assert.Equal(t, []string{"token master"}, w.calls(t, "m2"))
	assert.Equal(t, []string{"join"}, w.calls(t, "m4"))
	assert.Empty(t, slices.Concat(w.calls(t, "m3"), w.calls(t, "w1")))
	assert.Contains(t, w.Hosts["m4"].Read(t, "/run/join.env"), "VNF_NODE_NAME=master1\n")
	require.Len(t, w.VIMs(), 2)
	assert.Contains(t, w.VIMs()[1].Credentials[vnfm.CredentialKubeconfig].Reveal(), "https://127.0.6.2:6443")
}
