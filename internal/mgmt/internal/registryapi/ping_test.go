package registryapi

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// ways are hosts that forward connections, and that do not.
func ways(t *testing.T) map[string]*remote.Client {
	t.Helper()
	out := map[string]*remote.Client{}
	for name, closed := range map[string]bool{"forwarded": false, "on the host": true} {
		if _, err := exec.LookPath("python3"); closed && err != nil {
			continue
		}
		host := sshtest.New(t, sshtest.Options{NoForwarding: closed})
		client, err := remote.Dial(t.Context(), host.Host(), 10*time.Second)
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		t.Cleanup(func() {
			for _, command := range host.Commands() {
				assert.NotContains(t, command, "right password")
			}
		})
		out[name] = client
	}
	return out
}

// registry answers one user, and others with a challenge.
func registry(challenge string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path != "/v2/":
			w.WriteHeader(http.StatusNotFound)
		case user != "a" || password != "right password":
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
}

func TestPing(t *testing.T) {
	plain := httptest.NewServer(registry(`Basic realm="r"`))
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(registry(`Bearer realm="https://tokens"`))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	server := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	tests := map[string]struct {
		endpoint Endpoint
		want     Answer
		// either of them is in the error.
		errors []string
	}{
		"user":                {Endpoint{Server: server(plain), Username: "a", Password: "right password"}, Answer{Status: 200}, nil},
		"another user":        {Endpoint{Server: server(plain), Username: "a", Password: "b"}, Answer{Status: 401}, nil},
		"tokens":              {Endpoint{Server: server(secure), Secure: true, Authorities: authority}, Answer{Status: 401, Tokens: true}, nil},
		"exactly":             {Endpoint{Server: server(secure), Secure: true, Exactly: secure.Certificate(), Username: "a", Password: "right password"}, Answer{Status: 200}, nil},
		"another certificate": {Endpoint{Server: server(secure), Secure: true, Exactly: &x509.Certificate{Raw: []byte{1}}}, Answer{}, []string{anotherCertificate}},
		"not trusted":         {Endpoint{Server: server(secure), Secure: true}, Answer{}, []string{"unknown authority", "CERTIFICATE_VERIFY_FAILED"}},
		"HTTPS over HTTP":     {Endpoint{Server: server(secure)}, Answer{}, []string{"answers 400: the server may speak HTTPS"}},
		"no registry":         {Endpoint{Server: server(other)}, Answer{}, []string{"answers 404, which is not the answer of a registry"}},
		"nobody":              {Endpoint{Server: server(gone)}, Answer{}, []string{"refused", "Connection failed"}},
	}
	for way, client := range ways(t) {
		for name, test := range tests {
			t.Run(way+"/"+name, func(t *testing.T) {
				got, err := test.endpoint.Ping(t.Context(), client)
				assert.Equal(t, test.want, got)
				if test.errors == nil {
					require.NoError(t, err)
					return
				}
				require.Error(t, err)
				assert.True(t, strings.Contains(err.Error(), test.errors[0]) || strings.Contains(err.Error(), test.errors[len(test.errors)-1]), err.Error())
			})
		}
	}
}
