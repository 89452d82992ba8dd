package kubeadmtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubeadmtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const clusterConfig = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: "192.0.2.1", bindPort: 6443}
nodeRegistration: {name: master1, kubeletExtraArgs: [{name: node-ip, value: "192.0.2.1"}]}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.33.1
controlPlaneEndpoint: "192.0.2.9:8383"
networking: {podSubnet: 10.0.0.0/16, serviceSubnet: 10.1.0.0/16}
`

// The stand-in refuses what kubeadm does, and finds what an interruption has left.
func TestRefused(t *testing.T) {
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	server := lab.NewServer(t, "master1", labtest.OpenStackDockerImage, "net0")
	installed := kubeadmtest.Carried(t, "#!/bin/sh\nkubeadm version -o short\n")
	require.Equal(t, "v1.33.1\n", server.Root(t, "%s", strings.ReplaceAll(installed, "#!/bin/sh\n", "")), "the version")
	config := func(from, to string) string {
		require.Contains(t, clusterConfig, from, "the configuration has no")
		return fmt.Sprintf("umask 077; cat >/root/init.yaml <<'X'\n%sX\nkubeadm init --config /root/init.yaml", strings.Replace(clusterConfig, from, to, 1))
	}
	for name, c := range map[string]struct{ script, want string }{
		"command":       {"kubeadm initialize", "unknown command"},
		"flag":          {"kubeadm token create --print-join", "unknown flag: --print-join"},
		"value":         {"kubeadm token create --ttl", "flag needs an argument: --ttl"},
		"duration":      {"kubeadm token create --ttl 1d", `'1d' is no duration`},
		"phase":         {"kubeadm reset --force --skip-phases=etcd", "reset has no phase etcd"},
		"field":         {config("podSubnet", "podCIDR"), `unknown field "ClusterConfiguration.networking.podCIDR"`},
		"old arguments": {config(`[{name: node-ip, value: "192.0.2.1"}]`, `{node-ip: "192.0.2.1"}`), "nodeRegistration.kubeletExtraArgs is no list"},
		"type":          {config("6443", `"6443"`), "localAPIEndpoint.bindPort is '6443'"},
		"API version":   {config("v1beta4", "v1beta2"), "InitConfiguration of kubeadm.k8s.io/v1beta2"},
		"version":       {config("v1.33.1", "v1.34.0"), "not v1.34.0"},
		"mode":          {"echo '{}' >/root/open.yaml; chmod 644 /root/open.yaml; kubeadm init --config /root/open.yaml", "others can read /root/open.yaml"},
		"leftover":      {"mkdir -p /etc/kubernetes/manifests; touch /etc/kubernetes/manifests/etcd.yaml; " + config("v1", "v1"), "manifests/*.yaml is there already"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := server.Try(t.Context(), "{ "+c.script+"; } 2>&1")
			require.Error(t, err)
			assert.Contains(t, out, c.want)
		})
	}
}
