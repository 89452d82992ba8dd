package repo_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm/repo"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// heard is what a server was sent.
type heard struct {
	sync.Mutex
	headers []http.Header
}

func (h *heard) add(r *http.Request) {
	h.Lock()
	defer h.Unlock()
	h.headers = append(h.headers, r.Header)
}

// values are those of a header in all requests.
func (h *heard) values(name string) []string {
	h.Lock()
	defer h.Unlock()
	var all []string
	for _, each := range h.headers {
		all = append(all, each.Values(name)...)
	}
	return all
}

// A registry has another host hand out its tokens. Name and password go there, over https; headers go to the registry alone.
func TestTokenServer(t *testing.T) {
	t.Parallel()
	layout, err := oci.New(t.TempDir())
	require.NoError(t, err)
	blob, err := oras.PushBytes(t.Context(), layout, "application/zip", []byte("a package"))
	require.NoError(t, err)
	empty, err := oras.PushBytes(t.Context(), layout, "application/vnd.oci.empty.v1+json", []byte("{}"))
	require.NoError(t, err)
	manifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":2},"layers":[{"mediaType":"application/zip","digest":%q,"size":%d}]}`,
		ocispec.MediaTypeImageManifest, empty.MediaType, empty.Digest, digest.FromString("a package"), blob.Size)
	_, err = oras.TagBytes(t.Context(), layout, ocispec.MediaTypeImageManifest, []byte(manifest), "1.0")
	require.NoError(t, err)

	for name, tt := range map[string]struct {
		plainRegistry, plainTokens bool
		want                       string
	}{
		"tokens over https":                  {},
		"tokens without TLS":                 {plainTokens: true, want: "uses http but registry was contacted over https"},
		"neither with TLS":                   {plainRegistry: true, plainTokens: true, want: "without TLS: name and password are not sent there"},
		"tokens over https, registry not so": {plainRegistry: true},
	} {
		var atRegistry, atTokens heard
		tokens := start(t, tt.plainTokens, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			atTokens.add(r)
			_, _ = w.Write([]byte(`{"token":"one-of-the-registry"}`))
		}))
		served := registrytest.Registry(map[string]*oci.Store{"vnf/core": layout})
		registry := start(t, tt.plainRegistry, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			atRegistry.add(r)
			if r.Header.Get("Authorization") != "Bearer one-of-the-registry" {
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="vnf"`, tokens.URL))
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			served.ServeHTTP(w, r)
		}))
		access := &vnfm.ChartAccess{
			Username: "installer", Password: "planted-password", Headers: map[string]vnfm.Secret{"PRIVATE-TOKEN": "planted-header"},
			CACertificate: certificate(registry) + certificate(tokens), PlainHTTP: tt.plainRegistry,
		}
		if tt.plainRegistry && tt.plainTokens {
			access.CACertificate = ""
		}
		var out strings.Builder
		url := "oci://" + strings.SplitAfter(registry.URL, "://")[1] + "/vnf/core:1.0"
		_, err := repo.FetchPackage(t.Context(), fetch.Request{URL: url, What: "the package", Limit: 1 << 20, Access: access}, &out)
		assert.NotContains(t, atRegistry.values("PRIVATE-TOKEN"), "", name)
		assert.Len(t, atRegistry.values("PRIVATE-TOKEN"), len(atRegistry.headers), name)
		assert.Empty(t, atTokens.values("PRIVATE-TOKEN"), name)
		if tt.want != "" {
			require.ErrorContains(t, err, tt.want, name)
			assert.Empty(t, atTokens.headers, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, "a package", out.String(), name)
		user, password, _ := (&http.Request{Header: atTokens.headers[0]}).BasicAuth()
		assert.Equal(t, []string{"installer", "planted-password"}, []string{user, password}, name)
	}
}

func start(t *testing.T, plain bool, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if plain {
		server.Start()
	} else {
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	return server
}

func certificate(server *httptest.Server) string {
	if server.Certificate() == nil {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}
