package fetch

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestRedirects follows redirects between servers: what is sent to the one that the user named, and trusted of it, is not
// sent to and trusted of another.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var seen http.Header
	content := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		_, _ = io.WriteString(w, "content")
	})
	to := func(url func() string) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/here", content)
		mux.HandleFunc("/a", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, url(), http.StatusFound) })
		return mux
	}
	otherTLS, otherPlain := httptest.NewTLSServer(content), httptest.NewServer(content)
	defer otherTLS.Close()
	defer otherPlain.Close()
	var target string
	first, firstPlain := httptest.NewTLSServer(to(func() string { return target })), httptest.NewServer(to(func() string { return target }))
	defer first.Close()
	defer firstPlain.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: first.Certificate().Raw}))
	known := vnfm.ChartAccess{Username: "user", Password: "planted", CACertificate: ca}
	careless := vnfm.ChartAccess{Username: "user", Password: "planted", InsecureSkipTLSVerify: true}
	for _, tt := range []struct {
		name, from, target string
		access             vnfm.ChartAccess
		// fails is part of the error; sent is whether the last server sees the password.
		fails string
		sent  bool
	}{
		{"same server", first.URL, "/here", known, "", true},
		{"CA, another port", first.URL, otherTLS.URL, known, "certificate signed by unknown authority", false},
		{"insecure, another port", first.URL, otherTLS.URL, careless, "certificate signed by unknown authority", false},
		{"without TLS", first.URL, otherPlain.URL, known, "it is redirected from https to " + otherPlain.URL + ", which is not followed", false},
		{"plain, another port", firstPlain.URL, otherPlain.URL, known, "", false},
		{"without end", firstPlain.URL, "/a", known, "it is redirected more than 10 times", false},
	} {
		target, seen = tt.target, nil
		var got strings.Builder
		_, err := Get(t.Context(), Request{URL: tt.from + "/a?token=planted", What: "the package", Limit: 100, Access: &tt.access}, &got)
		switch {
		case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), "planted")):
			t.Errorf("%s: got %v", tt.name, err)
		case tt.fails == "" && (err != nil || got.String() != "content"):
			t.Errorf("%s: got %q, %v", tt.name, got.String(), err)
		}
		if _, sent := seen["Authorization"]; sent != tt.sent || seen.Get("Referer") != "" {
			t.Errorf("%s: the last server gets %v", tt.name, seen)
		}
	}
}
