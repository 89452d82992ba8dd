package connect

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// dial connects to a host whose commands hold no password.
func dial(t *testing.T, options sshtest.Options) *remote.Client {
	t.Helper()
	host := sshtest.New(t, options)
	client, err := remote.Dial(t.Context(), host.Host(), 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	t.Cleanup(func() {
		for _, command := range host.Commands() {
			assert.NotContains(t, command, "right password")
		}
	})
	return client
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
		// text is in the error; empty is no error.
		text string
	}{
		"user":                {Endpoint{Server: server(plain), Username: "a", Password: "right password"}, Answer{Status: 200}, ""},
		"another user":        {Endpoint{Server: server(plain), Username: "a", Password: "b"}, Answer{Status: 401}, ""},
		"tokens":              {Endpoint{Server: server(secure), Secure: true, Authorities: authority}, Answer{Status: 401, Tokens: true}, ""},
		"exactly":             {Endpoint{Server: server(secure), Secure: true, Exactly: secure.Certificate(), Username: "a", Password: "right password"}, Answer{Status: 200}, ""},
		"another certificate": {Endpoint{Server: server(secure), Secure: true, Exactly: &x509.Certificate{Raw: []byte{1}}}, Answer{}, "the server has another certificate than the configured one"},
		"not trusted":         {Endpoint{Server: server(secure), Secure: true}, Answer{}, "unknown authority"},
		"HTTPS over HTTP":     {Endpoint{Server: server(secure)}, Answer{}, "answers 400: the server may speak HTTPS"},
		"no registry":         {Endpoint{Server: server(other)}, Answer{}, "answers 404, which is not the answer of a registry"},
		"nobody":              {Endpoint{Server: server(gone)}, Answer{}, "refused"},
	}
	client := dial(t, sshtest.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.endpoint.Ping(t.Context(), client)
			assert.Equal(t, test.want, got)
			if test.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.text)
		})
	}
}

func TestPingWithoutForwarding(t *testing.T) {
	client := dial(t, sshtest.Options{NoForwarding: true})
	_, err := Endpoint{Server: "127.0.0.1:5000"}.Ping(t.Context(), client)
	require.ErrorIs(t, err, remote.ErrNoForwarding)
	require.ErrorContains(t, err, "set AllowTcpForwarding to yes or local in /etc/ssh/sshd_config")
}
