// Package otlptest is a collector of OpenTelemetry for tests.
package otlptest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver takes spans over HTTP or gRPC and keeps them.
type Receiver struct {
	// URL is for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string

	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte
	heads []http.Header
	// services are the names of services that have sent.
	services []string
}

// New starts a collector that ends with the test.
func New(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var sent coltracepb.ExportTraceServiceRequest
		if !assert.NoError(t, err) || !assert.Equal(t, "/v1/traces", req.URL.Path) || !assert.NoError(t, proto.Unmarshal(body, &sent)) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.take(&sent, body, req.Header)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

func (r *Receiver) take(sent *coltracepb.ExportTraceServiceRequest, body []byte, head http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw, r.heads = append(r.raw, body...), append(r.heads, head)
	for _, resource := range sent.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" && !slices.Contains(r.services, a.GetValue().GetStringValue()) {
				r.services = append(r.services, a.GetValue().GetStringValue())
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

// Spans are all that have come.
func (r *Receiver) Spans() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// Raw is what was sent, one body after the other.
func (r *Receiver) Raw() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.raw)
}

// Headers are those of the requests.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heads)
}

// Services are the names of what has sent.
func (r *Receiver) Services() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.services)
}

// Traces are the ids of the traces of all spans.
func (r *Receiver) Traces() []string {
	var out []string
	for _, s := range r.Spans() {
		if id := hex.EncodeToString(s.GetTraceId()); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Path names a span with those that it is below of, the outermost one first. One whose parent was not sent begins with "^".
func (r *Receiver) Path(s *tracepb.Span) []string {
	spans := r.Spans()
	var out []string
	for s != nil {
		out = append(out, s.GetName())
		parent := s.GetParentSpanId()
		at := slices.IndexFunc(spans, func(p *tracepb.Span) bool { return slices.Equal(p.GetSpanId(), parent) })
		switch {
		case at >= 0:
			s = spans[at]
		case len(parent) > 0:
			out, s = append(out, "^"+hex.EncodeToString(parent)), nil
		default:
			s = nil
		}
	}
	slices.Reverse(out)
	return out
}

// Attribute is the text of an attribute of a span.
func Attribute(s *tracepb.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
