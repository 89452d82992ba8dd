package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/otlptest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentSpan  = "00f067aa0ba902b7"
)

// clearEnvironment takes away what the machine says.
func clearEnvironment(t testing.TB) {
	t.Helper()
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "OTEL_") || name == envParent || name == envState {
			t.Setenv(name, "")
		}
	}
}

// traceTo starts tracing to a collector.
func traceTo(t testing.TB, collector *otlptest.Receiver, variables map[string]string) {
	t.Helper()
	clearEnvironment(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	for name, value := range variables {
		t.Setenv(name, value)
	}
	Setup(t.Context(), "test", "run")
	t.Cleanup(func() { Stop(context.Background()) })
}

// TestTrace makes spans as an operation does and looks at what a collector gets.
func TestTrace(t *testing.T) {
	collector := otlptest.New(t)
	traceTo(t, collector, map[string]string{
		envParent: "00-" + parentTrace + "-" + parentSpan + "-01", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20header-secret",
		"OTEL_SERVICE_NAME": "pipeline", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=lab",
	})
	require.Empty(t, Warning())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	ctx := vnfm.WithConcealed(t.Context())
	vnfm.Conceal(ctx, "planted-secret")
	ctx, operation := Start(ctx, Operations, "INSTANTIATE")
	operation.Text("vnf.instance.name", "core5g")
	Event(ctx, "1/2 done with planted-secret")
	step, apply := Start(ctx, Operations, "apply")
	for path, transport := range map[string]http.RoundTripper{
		"/api/planted-secret": Transport(http.DefaultTransport, Kubernetes), "/planted-path": HostTransport(http.DefaultTransport, Hooks, "sink"),
	} {
		at := strings.Replace(server.URL, "http://", "http://user:planted-password@", 1) + path + "?token=planted-query"
		req, err := http.NewRequestWithContext(step, http.MethodGet, at, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("X-Auth-Token", "planted-header")
		res, err := (&http.Client{Transport: transport}).Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	apply.End(errors.New("the server said planted-secret"))
	operation.End(nil)
	Flush(t.Context())

	assert.Equal(t, []string{parentTrace}, collector.Traces())
	assert.Equal(t, []string{"pipeline"}, collector.Services())
	paths := map[string]bool{}
	for _, s := range collector.Spans() {
		paths[strings.Join(collector.Path(s), " > ")] = true
		switch s.GetName() {
		case "kubernetes GET":
			assert.Equal(t, server.URL+"/api/(sensitive)", otlptest.Attribute(s, "url.full"))
			assert.Equal(t, "403 Forbidden", s.GetStatus().GetMessage())
		case "sink GET":
			assert.Equal(t, server.URL, otlptest.Attribute(s, "url.full"))
		case "INSTANTIATE":
			assert.Equal(t, "core5g", otlptest.Attribute(s, "vnf.instance.name"))
			require.Len(t, s.GetEvents(), 1)
		}
	}
	top := "^" + parentSpan + " > INSTANTIATE"
	assert.Equal(t, map[string]bool{top: true, top + " > apply": true, top + " > apply > kubernetes GET": true, top + " > apply > sink GET": true}, paths)
	assert.NotContains(t, string(collector.Raw()), "planted")
	assert.NotContains(t, string(collector.Raw()), "header-secret")
	assert.Contains(t, string(collector.Raw()), "deployment.environment.name")
	for _, h := range collector.Headers() {
		assert.Equal(t, "Bearer header-secret", h.Get("Authorization"))
	}
}

// TestEnvironment reads variables, the malformed ones among them.
func TestEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		variables map[string]string
		on        bool
		warning   string
	}{
		"nothing asked": {nil, false, ""},
		"an endpoint":   {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, true, ""},
		"of traces":     {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/x"}, true, ""},
		"an exporter":   {map[string]string{envExporter: "otlp"}, true, ""},
		"grpc":          {map[string]string{envExporter: "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, true, ""},
		"a parent only": {map[string]string{envParent: "00-" + parentTrace + "-" + parentSpan + "-01"}, false, ""},
		"disabled":      {map[string]string{envExporter: "otlp", envDisabled: "true"}, false, ""},
		"none":          {map[string]string{envExporter: "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, false, ""},
		"console":       {map[string]string{envExporter: "console"}, false, envExporter + " has an exporter that does not exist here"},
		"no URL":        {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "user:secret@:x"}, false, "OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL"},
		"protocol":      {map[string]string{envExporter: "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, false, "PROTOCOL is neither http/protobuf nor grpc"},
		"others": {map[string]string{
			envExporter: "otlp", "OTEL_EXPORTER_OTLP_TIMEOUT": "secret", "OTEL_EXPORTER_OTLP_HEADERS": "secret", envSampler: "secret",
			"OTEL_EXPORTER_OTLP_COMPRESSION": "secret", "OTEL_RESOURCE_ATTRIBUTES": "secret", "OTEL_BSP_MAX_QUEUE_SIZE": "secret",
		}, true, "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds and is ignored; the environment variable OTEL_EXPORTER_OTLP_COMPRESSION"},
		"ratio": {map[string]string{envExporter: "otlp", envSampler: "traceidratio", envSamplerArg: "2"}, true, envSamplerArg + " is not a number from 0 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			clearEnvironment(t)
			for name, value := range test.variables {
				t.Setenv(name, value)
			}
			Setup(t.Context(), "test", "run")
			t.Cleanup(func() { Stop(context.Background()) })
			assert.Equal(t, test.on, Enabled())
			warning := Warning()
			assert.NotContains(t, warning, "secret")
			if test.warning == "" {
				assert.Empty(t, warning)
			} else {
				assert.Contains(t, warning, test.warning)
				assert.NotContains(t, warning, "\n")
			}
		})
	}
}

// TestParent ignores a malformed parent, and gives all processes of a run one trace without one.
func TestParent(t *testing.T) {
	for _, parent := range []string{"", "secret", "00-00000000000000000000000000000000-" + parentSpan + "-01", "00-" + parentTrace + "-xyz-01"} {
		collector := otlptest.New(t)
		for range 2 {
			traceTo(t, collector, map[string]string{envParent: parent, envState: "malformed"})
			_, span := Start(t.Context(), Operations, "plan")
			span.End(nil)
			Stop(t.Context())
		}
		assert.Empty(t, Warning())
		require.Len(t, collector.Spans(), 2)
		assert.Len(t, collector.Traces(), 1)
		for _, s := range collector.Spans() {
			assert.Equal(t, []string{"plan"}, collector.Path(s))
		}
	}
	// A parent that is not sampled has nothing sent.
	collector := otlptest.New(t)
	traceTo(t, collector, map[string]string{envParent: "00-" + parentTrace + "-" + parentSpan + "-00"})
	_, span := Start(t.Context(), Operations, "plan")
	span.End(nil)
	Stop(t.Context())
	assert.Empty(t, collector.Spans())
}

// TestNoCollector looks that a collector which does not answer delays nothing for long, and that only once.
func TestNoCollector(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	Setup(t.Context(), "test", "run")
	t.Cleanup(func() { Stop(context.Background()) })
	begin := time.Now()
	for range 20 {
		_, span := Start(t.Context(), Operations, "apply")
		span.End(nil)
		Flush(t.Context())
	}
	Stop(t.Context())
	assert.Less(t, time.Since(begin), 5*flushPatience)
}

// TestLogs looks at what is logged, from which level on, and without which secrets.
func TestLogs(t *testing.T) {
	SetLogging(true)
	t.Cleanup(func() { SetLogging(false) })
	t.Setenv("TF_LOG_PROVIDER_VNF_STORE", "OFF")
	t.Setenv("TF_LOG_PROVIDER_VNF_HOOKS", "INFO")
	var out bytes.Buffer
	ctx := WithLogs(tflogtest.RootLogger(vnfm.WithConcealed(t.Context()), &out))
	vnfm.Conceal(ctx, "planted-secret")
	ctx = MaskLogs(ctx, "planted-in-the-configuration")
	for _, s := range Subsystems {
		_, span := Start(ctx, s, "request of "+string(s))
		span.Text("url.full", "https://example.com/planted-secret/planted-in-the-configuration")
		span.Int("http.response.status_code", 500)
		span.End(errors.New("failed with planted-secret"))
	}
	Log(ctx, Hooks, "LCM operation", map[string]any{"state": "PROCESSING"})
	_, call := Start(ctx, Calls, "ApplyResourceChange")
	call.End(nil)
	// Lines at the same time have nothing in common.
	for range 200 {
		quiet := MaskLogs(WithLogs(tflog.SetField(tflogtest.RootLogger(t.Context(), io.Discard), "tf_req_id", "request-1")), "request")
		var together sync.WaitGroup
		for range 8 {
			together.Go(func() {
				_, span := Start(quiet, Kubernetes, "kubernetes GET")
				span.End(nil)
				Log(quiet, Kubernetes, "line", nil)
			})
		}
		together.Wait()
	}
	lines, err := tflogtest.MultilineJSONDecode(&out)
	require.NoError(t, err)
	var modules []string
	for _, line := range lines {
		modules = append(modules, fmt.Sprint(line["@module"], " ", line["@level"]))
		assert.NotContains(t, fmt.Sprint(line), "planted")
	}
	assert.Equal(t, []string{
		"provider.operations debug", "provider.kubernetes debug", "provider.openstack debug", "provider.downloads debug", "provider.registries debug",
		"provider.ssh debug", "provider.hooks info",
	}, modules)
	assert.Equal(t, "failed with (sensitive)", lines[0]["error"])
	assert.Contains(t, lines[0], "duration_ms")
}

// TestOff looks that nothing is paid for what is not asked for.
func TestOff(t *testing.T) {
	ctx, err := t.Context(), errors.New("failed")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, span := Start(ctx, Operations, "apply")
		span.Text("key", "value")
		span.Int("key", 1)
		Event(ctx, "line")
		span.End(err)
	}))
	assert.Same(t, http.DefaultTransport, Transport(http.DefaultTransport, Kubernetes))
	Flush(t.Context())
	Stop(t.Context())
}

// BenchmarkRequest is a request to a server of this machine, with and without tracing.
func BenchmarkRequest(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	run := func(b *testing.B) {
		client := &http.Client{Transport: Transport(http.DefaultTransport, Kubernetes)}
		ctx := vnfm.WithConcealed(context.Background())
		vnfm.Conceal(ctx, "a secret of the benchmark")
		b.ReportAllocs()
		for b.Loop() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/apis/apps/v1/namespaces/core/deployments/amf", http.NoBody)
			require.NoError(b, err)
			res, err := client.Do(req)
			require.NoError(b, err)
			require.NoError(b, res.Body.Close())
		}
	}
	b.Run("off", run)
	b.Run("on", func(b *testing.B) {
		traceTo(b, otlptest.New(b), nil)
		run(b)
	})
}
