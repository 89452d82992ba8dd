//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// request is one request of the provider that came through a gateway.
type request struct {
	method, uri string
	// status is that of the answer, 0 while there is none.
	status int
}

func (r request) String() string { return r.method + " " + r.uri }

// write reports whether a request changes something on the server. Reviews of
// one's own rights do not, and how often a Lease is renewed is a matter of time.
func (r request) write() bool {
	renewal := r.method == http.MethodPut && strings.HasPrefix(r.uri, "/apis/coordination.k8s.io/")
	return r.method != http.MethodGet && !renewal && !strings.HasPrefix(r.uri, "/apis/authorization.k8s.io/")
}

// gateway stands between the provider and the API servers of labs and passes
// everything on. It sees each request when it is made, so that a test can act at
// exactly that instant.
type gateway struct {
	mu       sync.Mutex
	seen     []*request
	watchers []*watcher
	trap     *trap
}

// watcher gets the first request that matches, without an answer or with it.
type watcher struct {
	match func(request) bool
	done  chan struct{}
}

// trap springs at the count-th write: before the server gets it, or when the
// server has answered and the provider does not know yet.
type trap struct {
	count     int
	before    bool
	spring    func()
	triggered bool
	// request is the one at which it sprang.
	request request
}

type trapKey struct{}

// way leads through a gateway to one lab.
type way struct {
	// endpoint and caFile are what a VIM is configured with.
	endpoint, caFile string
}

// open returns a way to the API server of a lab.
func (g *gateway) open(t *testing.T, lab labtest.Env) way {
	t.Helper()
	target, err := url.Parse(lab.Endpoint)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(lab.ReadFile(t, lab.CAFile))) {
		t.Fatalf("%s holds no certificate", lab.CAFile)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	quiet := log.New(io.Discard, "", 0)
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = target.Host },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
		ModifyResponse: func(resp *http.Response) error {
			g.answered(resp)
			return nil
		},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, ok := g.arrived(r)
		if !ok {
			panic(http.ErrAbortHandler)
		}
		// The API server answers some requests before it has read them, such as with 403. Over HTTP/2 the end of such an answer may not
		// come through for a minute; a request that is complete avoids it.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method != http.MethodGet {
			// A write that the server gets is done, also when its sender is killed meanwhile: its answer is waited for and noted.
			var end context.CancelFunc
			ctx, end = context.WithCancel(context.WithoutCancel(ctx))
			defer end()
		}
		proxy.ServeHTTP(w, r.WithContext(ctx)) //nolint:contextcheck // arrived derives it from that of the request
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	out := way{endpoint: server.URL, caFile: t.TempDir() + "/ca.pem"}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(out.caFile, ca, 0o600))
	return out
}

// exchange is what a request carries through the gateway.
type exchange struct {
	request *request
	trap    *trap
}

// arrived notes a request. False says that it must not reach the server.
func (g *gateway) arrived(r *http.Request) (context.Context, bool) {
	if !strings.HasPrefix(r.UserAgent(), userAgent) {
		return r.Context(), true
	}
	g.mu.Lock()
	req := &request{method: r.Method, uri: r.URL.RequestURI()}
	g.seen = append(g.seen, req)
	g.tell(*req)
	var sprung *trap
	if g.trap != nil && req.write() && !g.trap.triggered {
		g.trap.count--
		if g.trap.count == 0 {
			sprung = g.trap
			sprung.triggered, sprung.request = true, *req
		}
	}
	g.mu.Unlock()
	if sprung != nil && sprung.before {
		sprung.spring()
		return nil, false
	}
	return context.WithValue(r.Context(), trapKey{}, exchange{request: req, trap: sprung}), true
}

// answered notes the server's answer before the provider gets it.
func (g *gateway) answered(resp *http.Response) {
	x, ok := resp.Request.Context().Value(trapKey{}).(exchange)
	if !ok {
		return
	}
	if x.trap != nil {
		x.trap.spring()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	x.request.status = resp.StatusCode
	g.tell(*x.request)
}

// tell tells the watchers of a request, when it arrives and when it is answered.
func (g *gateway) tell(r request) {
	for _, w := range g.watchers {
		if w.match(r) {
			w.match = func(request) bool { return false }
			close(w.done)
		}
	}
}

// set arms a trap for the count-th write from now on.
func (g *gateway) set(count int, before bool, spring func()) *trap {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trap = &trap{count: count, before: before, spring: spring}
	return g.trap
}

// triggered disarms the trap and returns the request at which it sprang, or nil.
func (g *gateway) triggered() *request {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.trap
	g.trap = nil
	if t == nil || !t.triggered {
		return nil
	}
	return &t.request
}

// expect returns a channel that is closed with the first request that matches, as it arrives or as it is answered.
func (g *gateway) expect(match func(request) bool) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := &watcher{match: match, done: make(chan struct{})}
	g.watchers = append(g.watchers, w)
	return w.done
}

// requests returns what was seen from an index on.
func (g *gateway) requests(from int) []request {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]request, 0, len(g.seen)-from)
	for _, r := range g.seen[from:] {
		out = append(out, *r)
	}
	return out
}

// writes counts the writes from an index on.
func (g *gateway) writes(from int) int {
	n := 0
	for _, r := range g.requests(from) {
		if r.write() {
			n++
		}
	}
	return n
}
