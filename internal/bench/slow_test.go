//go:build linux

package bench

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// roundTrip is how long each request is on its way.
const roundTrip = 100 * time.Millisecond

// slowNetwork stands before an API server that is far away, and notes which requests waited for which.
type slowNetwork struct {
	mu sync.Mutex
	// answered are, for each depth, when its first request was answered; the request before all has none.
	answered []time.Time
	deepest  int
	// trace gets a line for each request; nil for none.
	trace io.Writer
	first time.Time
}

// envTrace is the file that BenchmarkRoundTrips writes each request to, with the time of its begin and of its answer in milliseconds
// and its place in the chain. An empty line ends a step.
const envTrace = "BENCH_TRACE"

// distance returns a lab whose API server is a round trip away.
func distance(b *testing.B, lab labtest.Env) (labtest.Env, *slowNetwork) {
	b.Helper()
	target, err := url.Parse(lab.Endpoint)
	require.NoError(b, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(lab.ReadFile(b, lab.CAFile))) {
		b.Fatalf("%s holds no certificate", lab.CAFile)
	}
	n := &slowNetwork{}
	if path := os.Getenv(envTrace); path != "" {
		file, err := os.Create(path) //nolint:gosec // the caller's file
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, file.Close()) })
		n.trace = file
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = target.Host },
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		depth := n.begin(began)
		timer := time.NewTimer(roundTrip)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
			return
		case <-timer.C:
		}
		proxy.ServeHTTP(&answer{ResponseWriter: w, begins: func() { n.end(depth, began, r) }}, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	lab.Endpoint, lab.CAFile = server.URL, filepath.Join(b.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(b, os.WriteFile(lab.CAFile, ca, 0o600))
	return lab, n
}

// begin returns the depth of a request: one more than the deepest that was answered before.
func (n *slowNetwork) begin(at time.Time) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	depth := 1
	for d, answered := range n.answered {
		if answered.Before(at) {
			depth = d + 2
		}
	}
	n.deepest = max(n.deepest, depth)
	return depth
}

func (n *slowNetwork) end(depth int, began time.Time, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := time.Now()
	if n.trace != nil {
		if n.first.IsZero() {
			n.first = began
		}
		agent, _, _ := strings.Cut(r.UserAgent(), "/")
		_, _ = fmt.Fprintf(n.trace, "%2d %6d %6d %s %s %s\n", depth, began.Sub(n.first).Milliseconds(), at.Sub(n.first).Milliseconds(), agent, r.Method, r.URL)
	}
	if depth == len(n.answered)+1 {
		n.answered = append(n.answered, at)
	}
}

// take returns the length of the longest chain of requests since the last call; a network that is not slow has none.
func (n *slowNetwork) take() int {
	if n == nil {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.deepest
	n.deepest, n.answered = 0, nil
	if n.trace != nil && !n.first.IsZero() {
		n.first = time.Time{}
		_, _ = fmt.Fprintln(n.trace)
	}
	return out
}

// answer tells when an answer begins.
type answer struct {
	http.ResponseWriter
	begins func()
	once   sync.Once
}

func (a *answer) WriteHeader(status int) {
	a.once.Do(a.begins)
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// BenchmarkRoundTrips leads lives of 60 objects with an API server that is 100 ms away.
func BenchmarkRoundTrips(b *testing.B) {
	s := newStage(b)
	s.lab, s.slow = distance(b, s.lab)
	w := newWorkload(b, 60, false)
	for range b.N * lives(b) {
		s.leadAll(b, w)
	}
	_, _ = fmt.Fprintf(os.Stdout, "\nEach request takes %s more:\n", roundTrip)
	s.report.write(os.Stdout)
}
