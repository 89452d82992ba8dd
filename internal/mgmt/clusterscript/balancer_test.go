package clusterscript_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/clusterscript"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// balancing is a script of a load balancer that notes its calls.
const balancing = `#!/bin/sh
echo "$VNF_OPERATION $* ports=$VNF_NODE_PORTS own=$VNF_BALANCER_IP all=$VNF_BALANCERS virtual=$VNF_VIRTUAL_ADDRESS" >>/run/calls
`

// listing is a kubectl that has the node ports of Services in /run/services.
const listing = `
case "$*" in
*"get services"*) cat /run/services ;;
"get "*) echo "node/$3" ;;
esac
`

// balanced gives the instance two load balancers that share an address, and one master and two workers.
func balanced(t *testing.T, services string) *testEnv {
	t.Helper()
	w := newTestEnv(t)
	w.Call.Package.Content = fstest.MapFS{"Scripts/install.sh": {Data: []byte(program)}, "Scripts/balance.sh": {Data: []byte(balancing)}}
	w.Call.Flavour.VDUs = append(w.Call.Flavour.VDUs, vnfm.VDU{ID: "externalLB"})
	w.Call.Flavour.ConnectionPoints = append(w.Call.Flavour.ConnectionPoints, vnfm.ConnectionPoint{ID: "externalLB_CP1", VDUID: "externalLB"})
	w.Params()["external_lb_param"] = map[string]any{
		"ssh_cp_name": "externalLB_CP1", "ssh_username": "root", "ssh_password": "debian", "port": int64(w.Port), "boot_timeout": "1s",
		"script_path": "Scripts/balance.sh", "virtual_address": "192.0.2.100", "node_ports": []any{int64(30080)}, "follow_services": true,
	}
	w.Server(t, "lb1", "externalLB", "externalLB_CP1", 30)
	w.Server(t, "lb2", "externalLB", "externalLB_CP1", 31)
	m := w.Master(t, "m1", 1)
	m.StandIn(t, "kubectl", listing)
	m.Write(t, "/run/services", services)
	w.Worker(t, "w1", 11)
	w.Worker(t, "w2", 12)
	return w
}

// Load balancers forward the node ports of existing Services. They are configured once before the Services are read, because they may be
// the only way to the API server, and again only if ports have changed. Their shared address is the address of the cluster.
func TestBalancersFollowServices(t *testing.T) {
	w := balanced(t, "default/web 30081 TCP\ndefault/web 30080 TCP\ndefault/dns 30053 UDP\nkube-system/api 8383 TCP\n")
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	const nodes = " -m 127.0.6.1 -w 127.0.6.11,127.0.6.12 "
	call := func(operation, ports, own string) string {
		return operation + nodes + "ports=" + ports + " own=" + own + " all=127.0.6.30,127.0.6.31 virtual=192.0.2.100"
	}
	assert.Equal(t, []string{call("INSTANTIATE", "30080", "127.0.6.30"), call("INSTANTIATE", "30080,30081", "127.0.6.30")}, w.calls(t, "lb1"))
	assert.Equal(t, []string{call("INSTANTIATE", "30080", "127.0.6.31"), call("INSTANTIATE", "30080,30081", "127.0.6.31")}, w.calls(t, "lb2"))
	assert.Contains(t, w.Lines(), "not passed on by the load balancer: port 30053 of Service default/dns is of UDP")
	assert.Contains(t, w.Lines(), "not passed on by the load balancer: port 8383 of Service kube-system/api is the port of the API server of the load balancer")
	require.Len(t, w.VIMs(), 1)
	assert.Contains(t, w.VIMs()[0].Credentials[vnfm.CredentialKubeconfig].Reveal(), "https://192.0.2.100:8383")
	assert.Contains(t, w.Hosts["m1"].Read(t, "/run/init.env"), "VNF_ENDPOINT=192.0.2.100:8383\n")

	require.NoError(t, w.At(t, vnfm.OpModifyInfo, true))
	assert.Equal(t, []string{call("MODIFY_INFO", "30080,30081", "127.0.6.30")}, w.calls(t, "lb1"), "nothing has changed")
	watch := func() map[string]string {
		found, err := clusterscript.New().Watch(t.Context(), w.Call)
		require.NoError(t, err)
		return found
	}
	assert.Empty(t, watch())
	w.Hosts["m1"].Write(t, "/run/services", "default/web 30082 TCP\n")
	assert.Equal(t, map[string]string{"externalLB": "the load balancer passes on node ports 30081 of Services, which have node ports 30082"}, watch())
	assert.Empty(t, w.calls(t, "lb1"), "a refresh changes nothing")
	require.NoError(t, w.At(t, vnfm.OpScale, true))
	assert.Equal(t, []string{call("SCALE", "30080,30081", "127.0.6.30"), call("SCALE", "30080,30082", "127.0.6.30")}, w.calls(t, "lb1"))

	w.Below("external_lb_param")["follow_services"] = false
	w.calls(t, "lb2")
	require.NoError(t, w.At(t, vnfm.OpModifyInfo, true))
	assert.Equal(t, []string{call("MODIFY_INFO", "30080", "127.0.6.31")}, w.calls(t, "lb2"))
	assert.Empty(t, watch())
}

// A load balancer that is replaced together with a node stays unchanged before: it may not answer. Ports of Services and the address of
// the cluster stay.
func TestBalancerIsReplaced(t *testing.T) {
	labtest.FullRun(t, "failures")
	w := balanced(t, "default/web 30081 TCP\n")
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	w.calls(t, "lb1")
	w.calls(t, "lb2")
	w.Hosts["lb1"].Stop()
	require.NoError(t, w.At(t, vnfm.OpHeal, false, "lb1", "w2"))
	assert.Equal(t, []string{"HEAL -m 127.0.6.1 -w 127.0.6.11 ports=30080,30081 own=127.0.6.31 all=127.0.6.30,127.0.6.31 virtual=192.0.2.100"}, w.calls(t, "lb2"))
	w.Gone("lb1")
	w.Gone("w2")
	w.Server(t, "lb3", "externalLB", "externalLB_CP1", 32)
	require.NoError(t, w.At(t, vnfm.OpHeal, true, "lb1", "w2"))
	after := "HEAL -m 127.0.6.1 -w 127.0.6.11 ports=30080,30081 own=127.0.6.32 all=127.0.6.31,127.0.6.32 virtual=192.0.2.100"
	assert.Equal(t, []string{after}, w.calls(t, "lb3"))
	assert.Equal(t, []string{strings.Replace(after, "own=127.0.6.32", "own=127.0.6.31", 1)}, w.calls(t, "lb2"))
	require.Len(t, w.VIMs(), 1, "the cluster is where it was")

	w.Hosts["lb3"].Stop()
	require.ErrorContains(t, w.At(t, vnfm.OpScale, true), "load balancer: VNFC lb3: ")
}

// A failing script fails the operation with its output. The resumed operation calls it again.
func TestBalancerScriptFails(t *testing.T) {
	labtest.FullRun(t, "failures")
	w := balanced(t, "")
	w.Call.Package.Content = fstest.MapFS{
		"Scripts/install.sh": {Data: []byte(program)}, "Scripts/balance.sh": {Data: []byte(balancing + "[ ! -e /run/fail ] || { echo 'no such module' >&2; exit 4; }\n")},
	}
	w.Hosts["lb2"].Write(t, "/run/fail", "")
	err := w.At(t, vnfm.OpInstantiate, true)
	require.ErrorContains(t, err, "load balancer: script Scripts/balance.sh of the package on the load balancer on root@127.0.6.31")
	require.ErrorContains(t, err, "ended with status 4:\nno such module")
	assert.Empty(t, w.VIMs())
	require.NoError(t, os.Remove(w.Hosts["lb2"].Root+"/run/fail"))
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))
	assert.Len(t, w.calls(t, "lb2"), 2)
	require.Len(t, w.VIMs(), 1)
}
