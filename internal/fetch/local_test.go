package fetch

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLocalAddresses: what a package names is not fetched from this machine or its link.
func TestLocalAddresses(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	defer server.Close()
	for target, want := range map[string]string{
		server.URL:                       "it leads to this machine (127.0.0.1)",
		"https://localhost:1/a":          "it leads to this machine (localhost)",
		"https://[::1]/a":                "it leads to this machine (::1)",
		"https://[::ffff:127.0.0.1]/a":   "it leads to this machine (127.0.0.1)",
		"https://0.0.0.0/a":              "it leads to this machine (0.0.0.0)",
		"https://169.254.169.254/latest": "it leads to the link-local address 169.254.169.254",
		"https://[fe80::1%25eth0]/a":     "it leads to the link-local address fe80::1",
		"http://127.0.0.1/a":             "it leads to this machine (127.0.0.1)",
	} {
		var got strings.Builder
		_, err := Get(t.Context(), Request{URL: target, What: "the artifact", Limit: 100, Public: true}, &got)
		require.ErrorContains(t, err, want, target)
		require.Empty(t, got.String())
	}
	// A name that leads here is found out when it is dialled.
	client, err := Client(nil)
	require.NoError(t, err)
	require.NoError(t, refuseLocal(client, &url.URL{Scheme: "https", Host: "example.org"}))
	transport, ok := client.HTTPClient.Transport.(*byProxy)
	require.True(t, ok)
	_, err = transport.direct.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "https://"))
	require.ErrorContains(t, err, "it leads to this machine (127.0.0.1)")
}
