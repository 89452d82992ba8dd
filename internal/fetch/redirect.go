package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// maxRedirects is how many redirects are followed, as net/http does.
const maxRedirects = 10

// redirectError is a redirect that is not followed.
type redirectError struct{ text string }

func (e *redirectError) Error() string { return e.text }

// harmless are the headers that another server may see.
var harmless = []string{"Accept", "If-None-Match", "Range", "User-Agent"}

// checkRedirect is http.Client.CheckRedirect. The header of the address that led there goes too: addresses hold tokens.
func checkRedirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) >= maxRedirects:
		return &redirectError{fmt.Sprintf("it is redirected more than %d times", maxRedirects)}
	case last.Scheme == "https" && req.URL.Scheme != "https":
		return &redirectError{fmt.Sprintf("it is redirected from https to %s, which is not followed: give the address that it leads to, if you trust it", Redact(req.URL.String()))}
	}
	req.Header.Del("Referer")
	if SameOrigin(via[0].URL, req.URL) {
		return nil
	}
	for name := range req.Header {
		if !slices.Contains(harmless, name) {
			req.Header.Del(name)
		}
	}
	return nil
}

// SameOrigin reports whether two URLs lead to the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// byOrigin sends what was redirected to another origin as if nothing special were trusted.
type byOrigin struct{ trusting, plain http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *byOrigin) RoundTrip(req *http.Request) (*http.Response, error) {
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	if SameOrigin(first.URL, req.URL) {
		return t.trusting.RoundTrip(req)
	}
	return t.plain.RoundTrip(req)
}

// CloseIdleConnections closes those of both.
func (t *byOrigin) CloseIdleConnections() {
	for _, each := range []http.RoundTripper{t.trusting, t.plain} {
		if c, ok := each.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	}
}
