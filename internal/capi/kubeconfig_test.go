package capi

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestKubeconfigIsReadAgain reads a kubeconfig that is replaced before its first use. The client certificate of the first one has
// expired, which would end the operation without a second read.
func TestKubeconfigIsReadAgain(t *testing.T) {
	t.Parallel()
	const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {%s}}]
`
	ca, caKey, _ := newCA(t)
	certificate, key, err := sign(ca, caKey, &vnfm.ClientCertificateSpec{CommonName: "admin", TTL: -time.Minute})
	require.NoError(t, err)
	credentials := []string{
		fmt.Sprintf("client-certificate-data: %s, client-key-data: %s", encoded(certificate), encoded(key)),
		"token: token-2",
	}
	for name, replaced := range map[string]bool{"replaced": true, "not replaced": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reads atomic.Int32
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == "/api":
					_, _ = io.WriteString(w, `{"kind":"APIVersions","versions":["v1"]}`)
				case r.URL.Path == "/apis":
					_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
				case r.URL.Path == "/api/v1":
					_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["get"]}]}`)
				case strings.HasSuffix(r.URL.Path, "/secrets/edge-kubeconfig"):
					with := credentials[0]
					if reads.Add(1) > 1 && replaced {
						with = credentials[1]
					}
					_, _ = fmt.Fprintf(w, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"edge-kubeconfig","namespace":"core","uid":"u"},"data":{"value":%q}}`,
						encoded(fmt.Sprintf(kubeconfig, server.URL, with)))
				case r.Header.Get("Authorization") == "Bearer token-2":
					_, _ = io.WriteString(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system"}}`)
				default:
					w.WriteHeader(http.StatusUnauthorized)
					_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
				}
			}))
			t.Cleanup(server.Close)
			management := &vnfm.VIM{Name: "management", Kubernetes: &vnfm.KubernetesConnection{Endpoint: server.URL}}
			d := &Driver{clients: kube.NewPool("test")}
			k, err := d.Kubeconfig(t.Context(), management, vnfm.Credentials{vnfm.CredentialBearerToken: "management-token"},
				vnfm.ClusterRef{Namespace: "core", Name: "edge"}, vnfm.KubeconfigSpec{Wait: time.Minute})
			require.EqualValues(t, 2, reads.Load())
			if !replaced {
				require.ErrorAs(t, err, new(*vnfm.ExpiredError))
				return
			}
			require.NoError(t, err)
			require.Equal(t, "token-2", k.Token.Reveal())
		})
	}
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
