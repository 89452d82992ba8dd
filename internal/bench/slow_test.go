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
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/chaintest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// roundTrip is how long each request is on its way.
const roundTrip = 100 * time.Millisecond

// envTrace is the file that BenchmarkRoundTrips writes each request to, see chaintest.Chain.
const envTrace = "BENCH_TRACE"

// distance returns a lab whose API server is a round trip away.
func distance(b *testing.B, lab labtest.Env) (labtest.Env, *chaintest.Chain) {
	b.Helper()
	target, err := url.Parse(lab.Endpoint)
	require.NoError(b, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(lab.ReadFile(b, lab.CAFile))) {
		b.Fatalf("%s holds no certificate", lab.CAFile)
	}
	n := &chaintest.Chain{}
	if path := os.Getenv(envTrace); path != "" {
		file, err := os.Create(path) //nolint:gosec // the caller's file
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, file.Close()) })
		n.Trace = file
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = target.Host },
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	server := httptest.NewUnstartedServer(n.Handler(roundTrip, proxy))
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	lab.Endpoint, lab.CAFile = server.URL, filepath.Join(b.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(b, os.WriteFile(lab.CAFile, ca, 0o600))
	return lab, n
}

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
