package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newCertificate makes a self-signed certificate and its key in PEM form.
func newCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	encode := func(kind string, data []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
	}
	return encode("CERTIFICATE", der), encode("EC PRIVATE KEY", keyDER)
}

func TestNewRefusals(t *testing.T) {
	t.Parallel()
	certificate, key := newCertificate(t)
	_, otherKey := newCertificate(t)
	token := vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret"}
	const endpoint = "https://10.0.0.10:6443"
	unverified := vnfm.Secret(kubeconfigOf(", insecure-skip-tls-verify: true", "token: planted-secret"))
	for _, tc := range []struct {
		name       string
		connection vnfm.KubernetesConnection
		creds      vnfm.Credentials
		// attribute is the attribute of the first problem, empty for a valid configuration.
		attribute string
	}{
		{"token", vnfm.KubernetesConnection{Endpoint: endpoint}, token, ""},
		{"certificate", vnfm.KubernetesConnection{Endpoint: endpoint, ClientCertificate: certificate}, vnfm.Credentials{vnfm.CredentialClientKey: vnfm.Secret(key)}, ""},
		{"proxy", vnfm.KubernetesConnection{Endpoint: endpoint, ProxyURL: "socks5://proxy:1080"}, token, ""},
		{"path", vnfm.KubernetesConnection{Endpoint: endpoint + "/k8s/clusters/c-1/"}, token, ""},
		{"nothing", vnfm.KubernetesConnection{Endpoint: endpoint}, nil, "bearer_token"},
		{"two ways", vnfm.KubernetesConnection{Endpoint: endpoint, Username: "u"}, vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret", vnfm.CredentialPassword: "planted-secret"}, "password"},
		{"no endpoint", vnfm.KubernetesConnection{}, token, "endpoint"},
		{"no scheme", vnfm.KubernetesConnection{Endpoint: "10.0.0.10:6443"}, token, "endpoint"},
		{"no host", vnfm.KubernetesConnection{Endpoint: "https://"}, token, "endpoint"},
		{"password in the endpoint", vnfm.KubernetesConnection{Endpoint: "https://u:planted-secret@host"}, token, "endpoint"},
		{"password in a bad endpoint", vnfm.KubernetesConnection{Endpoint: "https://u:planted-secret@host:port"}, token, "endpoint"},
		{"query", vnfm.KubernetesConnection{Endpoint: endpoint + "?x=y"}, token, "endpoint"},
		{"unencrypted", vnfm.KubernetesConnection{Endpoint: "http://10.0.0.10:8080"}, token, "endpoint"},
		{"unencrypted loopback", vnfm.KubernetesConnection{Endpoint: "http://127.0.0.1:8001"}, token, ""},
		{"bad CA", vnfm.KubernetesConnection{Endpoint: endpoint, CACertificate: "planted-secret"}, token, "ca_certificate"},
		{"CA and insecure", vnfm.KubernetesConnection{Endpoint: endpoint, CACertificate: certificate, InsecureSkipTLSVerify: true}, token, "insecure_skip_tls_verify"},
		{"password without user", vnfm.KubernetesConnection{Endpoint: endpoint}, vnfm.Credentials{vnfm.CredentialPassword: "planted-secret"}, "username"},
		{"user without password", vnfm.KubernetesConnection{Endpoint: endpoint, Username: "u"}, token, "username"},
		{"key without certificate", vnfm.KubernetesConnection{Endpoint: endpoint}, vnfm.Credentials{vnfm.CredentialClientKey: vnfm.Secret(key)}, "client_certificate"},
		{"certificate without key", vnfm.KubernetesConnection{Endpoint: endpoint, ClientCertificate: certificate}, token, "client_certificate"},
		{"another key", vnfm.KubernetesConnection{Endpoint: endpoint, ClientCertificate: certificate}, vnfm.Credentials{vnfm.CredentialClientKey: vnfm.Secret(otherKey)}, "client_certificate"},
		{"key is no key", vnfm.KubernetesConnection{Endpoint: endpoint, ClientCertificate: certificate}, vnfm.Credentials{vnfm.CredentialClientKey: "planted-secret"}, "client_certificate"},
		{"bad proxy", vnfm.KubernetesConnection{Endpoint: endpoint, ProxyURL: "http://u:planted-secret@proxy:port"}, token, "proxy_url"},
		{"proxy scheme", vnfm.KubernetesConnection{Endpoint: endpoint, ProxyURL: "ftp://proxy"}, token, "proxy_url"},
		{"two lines of token", vnfm.KubernetesConnection{Endpoint: endpoint}, vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret\nx"}, "bearer_token"},
		{"line end after token", vnfm.KubernetesConnection{Endpoint: endpoint}, vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret\n"}, ""},
		{"context alone", vnfm.KubernetesConnection{Endpoint: endpoint, KubeconfigContext: "c"}, token, "kubeconfig_context"},
		{"kubeconfig without verification", vnfm.KubernetesConnection{}, vnfm.Credentials{vnfm.CredentialKubeconfig: unverified}, "insecure_skip_tls_verify"},
		{"CA instead", vnfm.KubernetesConnection{CACertificate: certificate}, vnfm.Credentials{vnfm.CredentialKubeconfig: unverified}, ""},
		{"asked for by name", vnfm.KubernetesConnection{InsecureSkipTLSVerify: true}, vnfm.Credentials{vnfm.CredentialKubeconfig: unverified}, ""},
		{"token file", vnfm.KubernetesConnection{Endpoint: endpoint, TokenFile: "/run/token"}, nil, ""},
		{"token and its file", vnfm.KubernetesConnection{Endpoint: endpoint, TokenFile: "/run/token"}, token, "token_file"},
		{"program", vnfm.KubernetesConnection{Endpoint: endpoint, Exec: &vnfm.ExecPlugin{Command: "aws", APIVersion: execV1}}, nil, ""},
		{"program without a name", vnfm.KubernetesConnection{Endpoint: endpoint, Exec: &vnfm.ExecPlugin{APIVersion: execV1}}, nil, "exec.command"},
		{"old program", vnfm.KubernetesConnection{Endpoint: endpoint, Exec: &vnfm.ExecPlugin{Command: "aws", APIVersion: "client.authentication.k8s.io/v1alpha1"}}, nil, "exec.api_version"},
		{"program without endpoint", vnfm.KubernetesConnection{Exec: &vnfm.ExecPlugin{Command: "aws", APIVersion: execV1}}, nil, "endpoint"},
		{"no such kubeconfig", vnfm.KubernetesConnection{KubeconfigPath: "/no/such/kubeconfig", KubeconfigContext: "c"}, nil, "kubeconfig_path"},
		{"kubeconfig with a program", vnfm.KubernetesConnection{}, vnfm.Credentials{vnfm.CredentialKubeconfig: vnfm.Secret(kubeconfigOf("", "exec: {command: aws, apiVersion: "+execV1+"}"))}, "kubeconfig"},
		{"bad kubeconfig", vnfm.KubernetesConnection{}, vnfm.Credentials{vnfm.CredentialKubeconfig: "{planted-secret"}, "kubeconfig"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(Config{Connection: tc.connection, Credentials: tc.creds, VIM: "edge"})
			if tc.attribute == "" {
				require.NoError(t, err)
				return
			}
			var invalid *vnfm.InvalidError
			require.ErrorAs(t, err, &invalid)
			got := invalid.Problems[0].Attribute
			assert.Equal(t, tc.attribute, got, "attribute %q, want %q: %v", got, tc.attribute, err)
			assert.NotContains(t, err.Error(), "planted-secret", "the error tells a secret: %v", err)
		})
	}
}

// TestAllFaultsAtOnce: one error names all faults, also without reading files.
func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	cfg := Config{VIM: "edge", Connection: vnfm.KubernetesConnection{
		Endpoint: "10.0.0.10:6443", CACertificate: "planted-secret", InsecureSkipTLSVerify: true, ProxyURL: "ftp://proxy", Username: "u",
		ClientCertificate: "planted-secret", KubeconfigContext: "c", TokenFile: "/run/token", Exec: &vnfm.ExecPlugin{APIVersion: "v1"},
	}, Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret x"}}
	want := []string{
		"token_file", "username", "client_certificate", "kubeconfig_context", "exec.command", "exec.api_version",
		"insecure_skip_tls_verify", "endpoint", "proxy_url",
	}
	_, err := New(cfg)
	for _, err := range []error{err, CheckConfig(cfg)} {
		var invalid *vnfm.InvalidError
		require.ErrorAs(t, err, &invalid)
		var got []string
		for _, p := range invalid.Problems {
			got = append(got, p.Attribute)
		}
		if diff := cmp.Diff(want, got); diff != "" || strings.Contains(err.Error(), "planted-secret") {
			t.Errorf("%s\n%v", diff, err)
		}
	}
	require.NoError(t, CheckConfig(Config{Connection: vnfm.KubernetesConnection{KubeconfigPath: "/no/such/kubeconfig"}}), "a file was read")
}

func kubeconfigOf(cluster, user string) string {
	return `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c, cluster: {server: "https://api.example.org:6443"` + cluster + `}}
users:
- {name: u, user: {` + user + `}}
- {name: second, user: {username: admin, password: planted-secret}}
contexts:
- {name: one, context: {cluster: c, user: u}}
- {name: two, context: {cluster: c, user: second}}
- {name: no-cluster, context: {cluster: x, user: u}}
- {name: no-user, context: {cluster: c, user: x}}
`
}

func TestParseKubeconfig(t *testing.T) {
	t.Parallel()
	ca := base64.StdEncoding.EncodeToString([]byte("authority"))
	for _, tc := range []struct {
		name, text, context string
		want                access
	}{
		{"current context", kubeconfigOf(", certificate-authority-data: "+ca, "token: t"), "", access{endpoint: "https://api.example.org:6443", ca: []byte("authority"), token: "t"}},
		{"named context", kubeconfigOf("", "token: t"), "two", access{endpoint: "https://api.example.org:6443", username: "admin", password: "planted-secret"}},
		{"connection", kubeconfigOf(`, tls-server-name: kube, proxy-url: "http://p:1", insecure-skip-tls-verify: true`, "token: t"), "", access{endpoint: "https://api.example.org:6443", tlsServerName: "kube", proxyURL: "http://p:1", insecure: true, token: "t"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseKubeconfig(tc.text, tc.context)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(tc.want, got, cmp.AllowUnexported(access{})))
		})
	}
}

func TestParseKubeconfigRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, context, says string }{
		{"not YAML", "planted-secret: [", "", "not valid YAML"},
		{"empty", "", "", "neither contexts nor clusters"},
		{"exec", kubeconfigOf("", "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}"), "", `runs the program "aws"`},
		{"plugin", kubeconfigOf("", "auth-provider: {name: oidc}"), "", `"oidc" (auth-provider)`},
		{"CA file", kubeconfigOf(", certificate-authority: /ca.crt", "token: t"), "", `cluster "c": certificate-authority names a file`},
		{"certificate file", kubeconfigOf("", "client-certificate: a.crt, client-key-data: eA=="), "", "client-certificate"},
		{"key file", kubeconfigOf("", "client-certificate-data: eA==, client-key: a.key"), "", "client-key"},
		{"token file", kubeconfigOf("", "tokenFile: /var/run/token"), "", "tokenFile"},
		{"impersonation", kubeconfigOf("", "token: t, as: root"), "", "impersonates"},
		{"impersonation of groups", kubeconfigOf("", "token: t, as-groups: [system:masters]"), "", "impersonates"},
		{"impersonation by extra fields", kubeconfigOf("", "token: t, as-user-extra: {scopes: [planted-secret]}"), "", "impersonates"},
		{"two clusters of one name", strings.Replace(kubeconfigOf("", "token: t"), "clusters:", "clusters:\n- {name: c, cluster: {server: 'https://192.0.2.9'}}", 1), "", "several clusters"},
		{"no credentials", kubeconfigOf("", ""), "", "no credentials"},
		{"two ways", kubeconfigOf("", "token: planted-secret, username: a, password: planted-secret"), "", "several ways"},
		{"half", kubeconfigOf("", "username: a"), "", "without password"},
		{"unknown context", kubeconfigOf("", "token: t"), "three", `context "three" is not in the kubeconfig; it has "no-cluster", "no-user", "one", "two"`},
		{"unknown cluster", kubeconfigOf("", "token: t"), "no-cluster", `cluster "x" is not in the kubeconfig`},
		{"unknown user", kubeconfigOf("", "token: t"), "no-user", `user "x" is not in the kubeconfig`},
		{"no current context", strings.Replace(kubeconfigOf("", "token: t"), "current-context: one", "", 1), "", "no current-context"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseKubeconfig(tc.text, tc.context)
			require.Error(t, err)
			mustSay(t, err, tc.says)
			assert.NotContains(t, err.Error(), "planted-secret", "the error tells a secret: %v", err)
		})
	}
}

func TestConnectionOverridesKubeconfig(t *testing.T) {
	t.Parallel()
	certificate, _ := newCertificate(t)
	c, err := New(Config{
		Connection:  vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443", TLSServerName: "api.example.org", CACertificate: certificate},
		Credentials: vnfm.Credentials{vnfm.CredentialKubeconfig: vnfm.Secret(kubeconfigOf(", insecure-skip-tls-verify: true", "token: t"))},
	})
	require.NoError(t, err)
	rc := c.config
	if c.Endpoint() != "https://127.0.0.1:6443" || rc.ServerName != "api.example.org" || rc.Insecure || string(rc.CAData) != certificate || rc.BearerToken != "t" || rc.QPS != -1 {
		t.Errorf("%s", rc)
	}
}
