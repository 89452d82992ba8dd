package proxy

import (
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// newOlder is the proxy before a server that answers each path with a text.
func newOlder(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		if accept := r.Header.Get("Accept"); r.URL.Path == "/apis" && accept != "application/json" {
			http.Error(w, accept, http.StatusNotAcceptable)
			return
		}
		fmt.Fprint(w, text, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	older := httptest.NewServer((&Older{
		Target: target, Roots: roots, Log: slog.New(slog.DiscardHandler),
		Hidden: func(group, version string) bool { return group == "example.org" && version == "v2" },
	}).Handler())
	t.Cleanup(older.Close)
	return older
}

func TestOlder(t *testing.T) {
	const (
		list = `{"kind":"APIGroupList","groups":[%s,{"name":"other.org","versions":[{"groupVersion":"other.org/v2","version":"v2"}],"preferredVersion":{"groupVersion":"other.org/v2","version":"v2"}}]}`
		full = `{"name":"example.org","versions":[{"groupVersion":"example.org/v2","version":"v2"},{"groupVersion":"example.org/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.org/v2","version":"v2"}}`
		left = `{"name":"example.org","versions":[{"groupVersion":"example.org/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.org/v1","version":"v1"}}`
	)
	older := newOlder(t, map[string]string{
		"/apis":                           fmt.Sprintf(list, full),
		"/apis/example.org":               full,
		"/openapi/v3":                     `{"paths":{"apis/example.org/v1":{},"apis/example.org/v2":{}}}`,
		"/openapi/v3/apis/example.org/v2": "schema",
		"/apis/example.org/v1":            "one",
		"/apis/example.org/v2":            "two",
		"/apis/other.org/v2/things":       "things",
	})
	for path, want := range map[string]string{
		"/apis":                           fmt.Sprintf(list, left),
		"/apis/example.org":               left,
		"/openapi/v3":                     `{"paths":{"apis/example.org/v1":{}}}`,
		"/openapi/v3/apis/example.org/v2": "404 page not found\n",
		"/apis/example.org/v1":            "one",
		"/apis/example.org/v2":            "404 page not found\n",
		"/apis/example.org/v2/things":     "404 page not found\n",
		"/apis/other.org/v2/things":       "things",
	} {
		t.Run(path, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, older.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
			response, err := older.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // It was read to its end.
			body, err := io.ReadAll(response.Body)
			if err != nil || string(body) != want {
				t.Errorf("%d %s, %v; wanted %s", response.StatusCode, body, err, want)
			}
		})
	}
}

// The server, not the proxy, judges the credentials.
func TestOlderPassesCredentials(t *testing.T) {
	older := newOlder(t, map[string]string{"/api": "for "})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, older.URL+"/api", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer token")
	response, err := older.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // It was read to its end.
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "for Bearer token" {
		t.Errorf("%s, %v", body, err)
	}
}
