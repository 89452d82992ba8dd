package kube

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A user with a kubeconfig of their own reaches the cluster like its administrator, but without the
// administrator's credentials.
func TestKubeconfigForAnotherUser(t *testing.T) {
	text, err := KubeconfigFor(`{
		"clusters": [
			{"name": "edge", "cluster": {"server": "https://10.0.0.1:6443", "certificate-authority-data": "Y2E=", "tls-server-name": "edge.example.org", "proxy-url": "http://proxy.example.org:3128"}},
			{"name": "other", "cluster": {"server": "https://10.0.0.2:6443"}}],
		"users": [{"name": "edge-admin", "user": {"token": "of-the-administrator"}}],
		"contexts": [{"name": "edge-admin@edge", "context": {"cluster": "edge", "user": "edge-admin", "namespace": "core"}}],
		"current-context": "edge-admin@edge"}`, "ci", []byte("certificate"), []byte("key"))
	require.NoError(t, err)
	assert.NotContains(t, text, "of-the-administrator")
	assert.NotContains(t, text, "10.0.0.2")
	a, err := parseKubeconfig(text, "ci@edge")
	require.NoError(t, err)
	assert.Equal(t, access{
		endpoint: "https://10.0.0.1:6443", ca: []byte("ca"), tlsServerName: "edge.example.org", proxyURL: "http://proxy.example.org:3128",
		certificate: []byte("certificate"), key: []byte("key"),
	}, a)
}
