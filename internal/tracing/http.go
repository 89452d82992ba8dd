package tracing

import (
	"net/http"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/trace"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
)

// Transport returns a transport that makes a span of each request; base itself when nothing is traced and logged. A span has method, URL without
// user information and query, and status: no header, no body.
func Transport(base http.RoundTripper, subsystem Subsystem) http.RoundTripper {
	if !Enabled() {
		return base
	}
	return &transport{base: base, subsystem: subsystem, peer: string(subsystem), path: true}
}

// HostTransport is Transport for URLs that may be secrets themselves: spans have only scheme and host.
func HostTransport(base http.RoundTripper, subsystem Subsystem, peer string) http.RoundTripper {
	if !Enabled() {
		return base
	}
	return &transport{base: base, subsystem: subsystem, peer: peer}
}

type transport struct {
	base      http.RoundTripper
	subsystem Subsystem
	// peer begins the names of spans.
	peer string
	path bool
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !Enabled() {
		return t.base.RoundTrip(req)
	}
	ctx, span := start(req.Context(), t.subsystem, t.peer+" "+req.Method, trace.SpanKindClient)
	span.Text("http.request.method", req.Method)
	span.Text("url.full", t.clean(req.URL))
	span.Text("server.address", req.URL.Hostname())
	if port, err := strconv.Atoi(req.URL.Port()); err == nil {
		span.Int("server.port", port)
	}
	res, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		span.End(endpoint.WithoutURL(err))
		return res, err
	}
	span.Int("http.response.status_code", res.StatusCode)
	if res.StatusCode >= http.StatusBadRequest {
		span.Fail(strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode))
	}
	span.End(nil)
	return res, nil
}

// clean is a URL as a span has it.
func (t *transport) clean(u *url.URL) string {
	clean := url.URL{Scheme: u.Scheme, Host: u.Host}
	if t.path {
		clean.Path, clean.RawPath = u.Path, u.RawPath
	}
	return clean.String()
}

// CloseIdleConnections closes those of the transport below.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
