package clusterscript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hooktest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// living is a kubectl that lists the nodes of a cluster and records drained ones.
const living = `
case "$1 $2" in
"--request-timeout=20s get") printf 'node master1 127.0.6.1\nnode worker1 127.0.6.11\nnode worker2 127.0.6.12\n' ;;
get*) echo "node/$3" ;;
drain*) echo "$2" >>/run/drained ;;
esac
`

// silent is a kubectl whose API server does not answer.
const silent = "\ncase $1 in --request-timeout=*) exit 1 ;; get) echo \"node/$3\" ;; esac\n"

// lost is a cluster whose record was lost.
func lost(t *testing.T, kubectl string) *testEnv {
	t.Helper()
	w := newTestEnv(t)
	w.Master(t, "m1", 1)
	w.Worker(t, "w1", 11)
	w.Worker(t, "w2", 12)
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	w.all(t)
	w.Recorder = &hooktest.Recorder{}
	w.Hosts["m1"].StandIn(t, "kubectl", kubectl)
	return w
}

// all are the calls of all nodes.
func (w *testEnv) all(t *testing.T) []string {
	t.Helper()
	var out []string
	for id := range w.Hosts {
		out = append(out, w.calls(t, id)...)
	}
	slices.Sort(out)
	return out
}

// A cluster whose record was lost is not installed again: the API server, or the marks on its servers, identify its nodes.
func TestLostRecord(t *testing.T) {
	labtest.FullRun(t, "failures")
	for name, kubectl := range map[string]string{"the cluster answers": living, "marks alone": silent} {
		t.Run(name, func(t *testing.T) {
			w := lost(t, kubectl)
			assert.JSONEq(t, `{"instance": "7", "name": "worker2"}`, w.Hosts["w2"].Read(t, "/etc/terraform-provider-vnf/node.json"))
			require.NoError(t, w.At(t, vnfm.OpModifyInfo, true))
			assert.Empty(t, w.all(t))
			assert.Contains(t, strings.Join(w.Lines(), "\n"), "these servers are its nodes: master1, worker1, worker2")

			// A node that comes joins, under a name that is free.
			w.SetState(nil)
			w.Worker(t, "w3", 13)
			require.NoError(t, w.At(t, vnfm.OpScale, true))
			assert.Equal(t, []string{"join", "token worker"}, w.all(t))
			assert.Contains(t, w.Hosts["w3"].Read(t, "/run/join.env"), "VNF_NODE_NAME=worker3\n")

			// One that goes is taken out first.
			w.SetState(nil)
			w.Gone("w3")
			require.NoError(t, w.At(t, vnfm.OpScale, false, "w2"))
			assert.Equal(t, []string{"forget worker2", "reset"}, w.all(t))
		})
	}
}

// The API server identifies servers without marks by their addresses. An unidentified node is an error, and nothing is installed.
func TestLostRecord_unmarked(t *testing.T) {
	labtest.FullRun(t, "failures")
	for name, tt := range map[string]struct{ kubectl, want string }{
		"the cluster answers":        {living, ""},
		"the cluster does not":       {silent, "there is a cluster on it, which does not answer, and the store has no record of it; nothing was installed"},
		"the cluster has other ones": {strings.ReplaceAll(living, "127.0.6.", "192.0.2."), "which the API servers on the masters do not know by its addresses; nothing was installed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := lost(t, tt.kubectl)
			for _, h := range w.Hosts {
				h.Write(t, "/etc/terraform-provider-vnf/node.json", "{}")
			}
			err := w.At(t, vnfm.OpModifyInfo, true)
			assert.Empty(t, w.all(t))
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.JSONEq(t, `{"instance": "7", "name": "master1"}`, w.Hosts["m1"].Read(t, "/etc/terraform-provider-vnf/node.json"), "it is marked from now on")
		})
	}
}

// A server that is a node of the cluster of another instance is left alone.
func TestForeignNode(t *testing.T) {
	w := newTestEnv(t)
	w.Master(t, "m1", 1).Write(t, "/etc/terraform-provider-vnf/node.json", `{"instance": "8", "name": "master1"}`)
	require.ErrorContains(t, w.At(t, vnfm.OpInstantiate, true), "server m1 at 127.0.6.1 belongs to the cluster of VNF instance 8")
	assert.Empty(t, w.all(t))
}
