package clusterscript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// kubeadm notes how it is called and keeps the configuration that it is given.
const kubeadm = `
echo "kubeadm $*" >>/run/argv
kubeconfig() {
	mkdir -p /etc/kubernetes
	cat >/etc/kubernetes/admin.conf <<X
clusters:
- cluster:
    server: https://$(cat /run/endpoint)
  name: kubernetes
X
}
case "$*" in
"version -o short") echo v1.33.1 ;;
reset*) rm -rf /etc/kubernetes ;;
"init --config "*)
	cp "$3" /run/init.yaml
	sed -n 's/^controlPlaneEndpoint: "\(.*\)"/\1/p' "$3" >/run/endpoint
	kubeconfig
	;;
"init phase upload-certs --upload-certs --config "*)
	echo '[upload-certs] Using certificate key:'
	printf '%064d\n' 7
	;;
"join --config "*)
	cp "$3" /run/join.yaml
	echo 127.0.6.30:8383 >/run/endpoint
	! grep -q certificateKey "$3" || kubeconfig
	;;
"token create --ttl 2h --print-join-command")
	echo "kubeadm join 127.0.6.30:8383 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:$(printf '%064d' 1) "
	;;
*) exit 64 ;;
esac
`

// kubectlOfKubeadm has the members of etcd in /run/members.
const kubectlOfKubeadm = `
echo "kubectl $*" >>/run/argv
case "$*" in
*"member list") cat /run/members ;;
esac
`

// kubeadms makes a node one that has kubeadm.
func (w *testEnv) kubeadms(t *testing.T, id string) {
	t.Helper()
	h := w.Hosts[id]
	h.StandIn(t, "kubeadm", kubeadm)
	h.StandIn(t, "kubectl", kubectlOfKubeadm)
	for _, name := range []string{"iptables", "ip6tables"} {
		// Nothing is there that could be removed.
		h.StandIn(t, name, "echo \""+name+" $*\" >>/run/argv\ncase $4 in -D | -F | -X) exit 1 ;; esac\n")
	}
}

// takeCalls returns the calls of a program on a node that hold a word, and all are forgotten.
func (w *testEnv) takeCalls(t *testing.T, id, word string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(w.Hosts[id].Read(t, "/run/argv")) {
		assert.NotContains(t, line, "0123456789abcdef", "a command line shows a token")
		assert.NotContains(t, line, "0000000000007", "a command line shows the key of the certificates")
		if strings.Contains(line, word) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	require.NoError(t, os.RemoveAll(filepath.Join(w.Hosts[id].Root, "run", "argv")))
	return found
}

// The script of the example package understands what the driver tells it.
func TestExample(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(labtest.Root(t), "examples", "packages", "kubernetes-cluster", "Scripts", "install_k8s_cluster.sh"))
	require.NoError(t, err)
	w := newTestEnv(t)
	w.Call.Package.Content = fstest.MapFS{"Scripts/install.sh": {Data: script}, "Scripts/balance.sh": {Data: []byte("#!/bin/sh\n")}}
	// Names may look like the inventory.
	w.Call.Instance.Name = `{"name":"master9","role":"master","api_address":"127.0.6.2","joined":true}`
	w.Call.Flavour.VDUs = append(w.Call.Flavour.VDUs, vnfm.VDU{ID: "externalLB"})
	w.Call.Flavour.ConnectionPoints = append(w.Call.Flavour.ConnectionPoints, vnfm.ConnectionPoint{ID: "externalLB_CP1", VDUID: "externalLB"})
	delete(w.Params(), "proxy")
	w.Params()["external_lb_param"] = map[string]any{
		"ssh_cp_name": "externalLB_CP1", "ssh_username": "root", "ssh_password": "debian", "port": int64(w.Port), "script_path": "Scripts/balance.sh",
	}
	w.Server(t, "lb", "externalLB", "externalLB_CP1", 30)
	for n := 1; n <= 3; n++ {
		w.Master(t, fmt.Sprintf("m%d", n), n)
		w.kubeadms(t, fmt.Sprintf("m%d", n))
	}
	w.Worker(t, "w1", 11)
	w.kubeadms(t, "w1")
	members := "a1, started, master1, https://127.0.6.1:2380, https://127.0.6.1:2379, false\n"
	w.Hosts["m1"].Write(t, "/run/members", members+"b2, unstarted, , https://127.0.6.2:2380, , false\n")
	require.NoError(t, w.At(t, vnfm.OpInstantiate, true))

	// A member of a master that has not joined is one that an interrupted call has left.
	began := w.takeCalls(t, "m1", "")
	assert.Contains(t, strings.Join(began, "\n"), "etcdctl --endpoints=https://127.0.0.1:2379")
	for _, line := range began {
		if strings.Contains(line, "member remove") {
			assert.True(t, strings.HasSuffix(line, "member remove b2"), line)
		}
	}
	assert.Contains(t, began, "kubectl delete node worker1 --ignore-not-found")
	assert.NotContains(t, began, "kubectl delete node master1 --ignore-not-found")
	config := w.Hosts["m1"].Read(t, "/run/init.yaml")
	for _, want := range []string{`controlPlaneEndpoint: "127.0.6.30:8383"`, `- "127.0.6.30"`, `- "127.0.6.3"`, `advertiseAddress: "127.0.6.1"`, "name: master1\n", `podSubnet: "192.168.0.0/16"`} {
		assert.Contains(t, config, want)
	}
	assert.Equal(t, []string{"iptables -w -t nat -A VNF-API -p tcp -d 127.0.6.30 --dport 8383 -j DNAT --to-destination 127.0.6.1:6443"}, w.takeCalls(t, "w1", "DNAT"))
	config = w.Hosts["w1"].Read(t, "/run/join.yaml")
	assert.Contains(t, config, `apiServerEndpoint: "127.0.6.1:6443"`)
	assert.Contains(t, config, `token: "abcdef.0123456789abcdef"`)
	assert.NotContains(t, config, "controlPlane")
	assert.Contains(t, w.Hosts["m2"].Read(t, "/run/join.yaml"), `certificateKey: "`+fmt.Sprintf("%064d", 7)+`"`)
	w.takeCalls(t, "m2", "")
	w.unseen(t, nil)

	// The master that began the cluster goes, and its member alone.
	w.Hosts["m2"].Write(t, "/run/members", members+"b2, started, master2, https://127.0.6.2:2380, https://127.0.6.2:2379, false\nc3, started, master3, https://127.0.6.3:2380, https://127.0.6.3:2379, false\n")
	require.NoError(t, w.At(t, vnfm.OpHeal, false, "m1"))
	var removed []string
	for _, line := range w.takeCalls(t, "m2", "") {
		if strings.Contains(line, "member remove") || strings.Contains(line, "delete node") {
			removed = append(removed, line)
		}
	}
	require.Len(t, removed, 2)
	assert.Equal(t, "kubectl delete node master1 --ignore-not-found", removed[0])
	assert.True(t, strings.HasSuffix(removed[1], "member remove a1"), removed[1])
	assert.Equal(t, []string{"kubeadm reset --force --skip-phases=remove-etcd-member"}, w.takeCalls(t, "m1", "kubeadm reset"))
}
