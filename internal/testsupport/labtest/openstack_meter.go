package labtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// OpenStackMeter stands between a client and the services of a lab and counts what it is
// asked for. Its catalogue has all services at one address with a path for each, as that of
// many clouds has.
type OpenStackMeter struct {
	// AuthURL is the one of Keystone to be used.
	AuthURL string

	address string
	mu      sync.Mutex
	kinds   map[string]string
	counts  map[string]int
}

// Meter counts the requests to its AuthURL, until the test ends.
func (e OpenStackEnv) Meter(t testing.TB) *OpenStackMeter {
	t.Helper()
	m := &OpenStackMeter{kinds: map[string]string{}, counts: map[string]int{}}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			host, path, _ := strings.Cut(strings.TrimPrefix(r.In.URL.Path, "/"), "/")
			m.count(host)
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", host, host
			r.Out.URL.Path, r.Out.URL.RawPath = "/"+path, ""
		},
		ModifyResponse: m.redirect,
	})
	t.Cleanup(server.Close)
	m.address = server.URL
	m.AuthURL = m.through(t, e.AuthURL)
	keystone, _ := url.Parse(e.AuthURL)
	m.kinds[keystone.Host] = "identity"
	return m
}

// Take returns how many requests each service has had since the last time, by its kind.
func (m *OpenStackMeter) Take() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := maps.Clone(m.counts)
	clear(m.counts)
	return out
}

func (m *OpenStackMeter) count(host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[m.kinds[host]]++
}

// through is an address of the lab as it is reached through the meter.
func (m *OpenStackMeter) through(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return m.address + "/" + u.Host + u.Path
}

// redirect has the catalogue in a token name the meter for every service.
func (m *OpenStackMeter) redirect(r *http.Response) error {
	if r.Request.Method != http.MethodPost || !strings.HasSuffix(r.Request.URL.Path, "/auth/tokens") || r.StatusCode != http.StatusCreated {
		return nil
	}
	var body struct {
		Token map[string]any `json:"token"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return fmt.Errorf("reading a token: %w", err)
	}
	catalog, _ := body.Token["catalog"].([]any)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, entry := range catalog {
		service, _ := entry.(map[string]any)
		kind, _ := service["type"].(string)
		endpoints, _ := service["endpoints"].([]any)
		for _, each := range endpoints {
			endpoint, _ := each.(map[string]any)
			text, _ := endpoint["url"].(string)
			u, err := url.Parse(text)
			if err != nil {
				return fmt.Errorf("reading the catalogue: %w", err)
			}
			m.kinds[u.Host] = kind
			endpoint["url"] = m.address + "/" + u.Host + u.Path
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_ = r.Body.Close()
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}
