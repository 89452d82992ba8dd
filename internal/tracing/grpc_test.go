package tracing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/otlptest"
)

// identity is a certificate for this machine, for a server as well as for a client, and its files.
func identity(t *testing.T) (secure tls.Certificate, certificate, key string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	secure = server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(secure.PrivateKey)
	require.NoError(t, err)
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
		return path
	}
	return secure, write("tls.crt", "CERTIFICATE", secure.Certificate[0]), write("tls.key", "PRIVATE KEY", private)
}

// stderrOf returns what is written to the output of errors, where Terraform takes the log of a provider from.
func stderrOf(t *testing.T, work func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(path)
	require.NoError(t, err)
	before := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = before }()
	work()
	require.NoError(t, file.Close())
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(written)
}

// TestGRPC sends spans over gRPC, as the variables of OpenTelemetry say.
func TestGRPC(t *testing.T) {
	secure, certificate, key := identity(t)
	for name, test := range map[string]struct {
		secure    *tls.Config
		variables map[string]string
	}{
		"plain": {nil, nil},
		"TLS, a client certificate, compressed": {
			&tls.Config{Certificates: []tls.Certificate{secure}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13},
			map[string]string{
				"OTEL_EXPORTER_OTLP_CERTIFICATE": certificate, "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
				"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": certificate, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": key,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			collector := otlptest.NewGRPC(t, test.secure, nil)
			variables := map[string]string{
				"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20header-secret",
				envParent: "00-" + parentTrace + "-" + parentSpan + "-01",
			}
			for name, value := range test.variables {
				variables[name] = value
			}
			said := stderrOf(t, func() {
				traceTo(t, collector, variables)
				_, span := Start(t.Context(), Operations, "INSTANTIATE")
				span.End(nil)
				Flush(t.Context())
			})
			require.Empty(t, Warning())
			assert.Empty(t, said)
			assert.Equal(t, []string{parentTrace}, collector.Traces())
			assert.Equal(t, []string{"terraform-provider-vnf"}, collector.Services())
			require.Len(t, collector.Headers(), 1)
			assert.Equal(t, "Bearer header-secret", collector.Headers()[0].Get("Authorization"))
			assert.NotContains(t, string(collector.Raw()), "header-secret")
		})
	}
}

// TestNoGRPC looks that a collector which refuses spans, does not answer, is another one or is not there delays nothing for long, and that
// the log has one line about it.
func TestNoGRPC(t *testing.T) {
	secure, _, _ := identity(t)
	answer := func(code codes.Code) func(context.Context) error {
		return func(context.Context) error { return status.Error(code, "header-secret is refused") }
	}
	silent := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	const notSent = "[WARN] spans were not sent to the collector of OpenTelemetry\n"
	for name, collector := range map[string]*otlptest.Receiver{
		"refuses":         otlptest.NewGRPC(t, nil, answer(codes.PermissionDenied)),
		"is busy":         otlptest.NewGRPC(t, nil, answer(codes.Unavailable)),
		"does not answer": otlptest.NewGRPC(t, nil, silent),
		"is another one":  otlptest.NewGRPC(t, &tls.Config{Certificates: []tls.Certificate{secure}, MinVersion: tls.VersionTLS13}, nil),
		"has no TLS":      {URL: "https://" + strings.TrimPrefix(otlptest.NewGRPC(t, nil, nil).URL, "http://")},
		"is not there":    {URL: "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			said := stderrOf(t, func() {
				traceTo(t, collector, map[string]string{
					"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TIMEOUT": "100", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=header-secret",
				})
				require.Empty(t, Warning())
				for range 20 {
					_, span := Start(t.Context(), Operations, "apply")
					span.End(nil)
					Flush(t.Context())
				}
				Stop(t.Context())
			})
			assert.Less(t, time.Since(begin), 5*flushPatience)
			assert.Empty(t, collector.Spans())
			assert.Equal(t, notSent, said)
		})
	}
	// A plan flushes nothing before its end.
	t.Run("at the end", func(t *testing.T) {
		begin := time.Now()
		said := stderrOf(t, func() {
			traceTo(t, otlptest.NewGRPC(t, nil, silent), map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
			_, span := Start(t.Context(), Calls, "PlanResourceChange")
			span.End(nil)
			Stop(t.Context())
		})
		assert.Less(t, time.Since(begin), 5*stopPatience)
		assert.Equal(t, notSent, said)
	})
}
