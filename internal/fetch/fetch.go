// Package fetch downloads over HTTP, for packages and charts alike: with retries, a
// bound, a digest of what came, and no secret in what it says.
package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Request is what is to be downloaded.
type Request struct {
	URL string
	// What is the name of the download in errors: "the package".
	What string
	// ETag is that of an earlier download, which need not be repeated.
	ETag string
	// Limit is how many bytes there may be.
	Limit int64
	// Access is how one gets in; nil for what is open to all.
	Access *vnfm.ChartAccess
	// Public refuses addresses of this machine and its link: what is downloaded is named by a package, not by the user. Its digest, which
	// the package declares, protects it without TLS.
	Public bool
}

// Answer is what a server gave.
type Answer struct {
	// Checksum is the digest of the content, "sha256:<hex>".
	Checksum string
	ETag     string
	// Unchanged is set when the content of the request's ETag is current: nothing came.
	Unchanged bool
}

// Get writes what is behind a URL to w. When it fails, w may have got a part.
func Get(ctx context.Context, r Request, w io.Writer) (*Answer, error) {
	from := fmt.Sprintf("downloading %s from %s", r.What, Redact(r.URL))
	client, err := newClient(r.Access)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: it is not a usable URL", from)
	}
	if r.Public {
		if err := refuseLocal(client, req.URL); err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
	}
	client.HTTPClient.Transport = tracing.Transport(client.HTTPClient.Transport, tracing.Downloads)
	if r.ETag != "" {
		req.Header.Set("If-None-Match", r.ETag)
	}
	authorize(req.Header, r.Access)
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, endpoint.WithoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified && r.ETag != "":
		return &Answer{Unchanged: true, ETag: r.ETag}, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %w", from, &StatusError{Code: resp.StatusCode, Status: resp.Status})
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(resp.Body, r.Limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: the transfer broke after %d bytes: %w", from, n, err)
	}
	if n > r.Limit {
		return nil, fmt.Errorf("%s: it is larger than %d bytes", from, r.Limit)
	}
	return &Answer{Checksum: digest.Sum(h), ETag: resp.Header.Get("ETag")}, nil
}

// authorize adds what gets a request in.
func authorize(h http.Header, access *vnfm.ChartAccess) {
	if access == nil {
		return
	}
	switch {
	case access.Password != "":
		basic := &http.Request{Header: h}
		basic.SetBasicAuth(access.Username, access.Password.Reveal())
	case access.Token != "":
		h.Set("Authorization", "Bearer "+access.Token.Reveal())
	}
	for name, value := range access.Headers {
		h.Set(name, value.Reveal())
	}
}

// StatusError says that a server answered, and refused.
type StatusError struct {
	Code   int
	Status string
}

func (e *StatusError) Error() string { return "the server answered " + e.Status }

// Redact drops user information and query from a URL for messages: both are places
// where people put tokens.
func Redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(URL)"
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.String()
}

// How often, and with which pauses, a request is tried again that got no answer, or one
// that may be another one later.
const (
	retries  = 4
	shortest = 500 * time.Millisecond
	longest  = 10 * time.Second
)

// Client returns a client that tries again, and trusts the servers that the access says. A redirect to another host or port
// gets nothing of the access, neither the password nor the trust, and one from https to http is refused.
func Client(access *vnfm.ChartAccess) (*retryablehttp.Client, error) {
	client, err := newClient(access)
	if err == nil {
		client.HTTPClient.Transport = tracing.Transport(client.HTTPClient.Transport, tracing.Downloads)
	}
	return client, err
}

// newClient is Client without its place in traces.
func newClient(access *vnfm.ChartAccess) (*retryablehttp.Client, error) {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = retries, shortest, longest
	// The last answer is judged like the only one.
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	client.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if errors.As(err, new(*redirectError)) || errors.As(err, new(*addressError)) {
			return false, err
		}
		return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
	}
	client.HTTPClient.CheckRedirect = checkRedirect
	if access == nil || (access.CACertificate == "" && !access.InsecureSkipTLSVerify) {
		return client, nil
	}
	plain, ok := client.HTTPClient.Transport.(*http.Transport)
	if !ok {
		return nil, errors.New("there is no usable HTTP transport")
	}
	trusting := plain.Clone()
	trusting.TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: access.InsecureSkipTLSVerify, //nolint:gosec // the user asks for it by name
	}
	if access.CACertificate != "" {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(access.CACertificate)) {
			return nil, errors.New("the CA certificate holds no certificate")
		}
		trusting.TLSClientConfig.RootCAs = roots
	}
	client.HTTPClient.Transport = &byOrigin{trusting: trusting, plain: plain}
	return client, nil
}
