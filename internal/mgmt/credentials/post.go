package credentials

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxDrained bounds the bytes read from a response. The content is ignored.
const maxDrained = 64 << 10

// post sends one body. It retries connection errors, 429 and 5xx; a certificate that cannot be verified and any other status fail at
// once. Errors never quote the response, which may repeat the request.
func (s *Sender) post(ctx context.Context, sink *vnfm.CredentialsSink, body []byte, key string) error {
	transport, err := transportFor(sink)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client := s.client(sink, transport)
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, sink.URL, body)
	if err != nil {
		return errors.New("the url of credentials_sink is not a usable URL")
	}
	for name, value := range sink.Headers {
		req.Header.Set(name, value.Reveal())
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w; nothing was accepted in %d tries", endpoint.WithoutURL(err), client.RetryMax+1)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrained))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("the server answered %s: credentials are sent to the configured URL only, and redirects are not followed", resp.Status)
	case resp.StatusCode >= 300:
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	return nil
}

func (s *Sender) client(sink *vnfm.CredentialsSink, transport http.RoundTripper) *retryablehttp.Client {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryWaitMin, client.RetryWaitMax = s.waitMin, s.waitMax
	client.RetryMax = vnfm.DefaultSinkAttempts - 1
	if sink.Attempts > 0 {
		client.RetryMax = sink.Attempts - 1
	}
	timeout := sink.Timeout
	if timeout <= 0 {
		timeout = vnfm.DefaultSinkTimeout
	}
	client.HTTPClient = &http.Client{
		Transport: tracing.HostTransport(transport, tracing.Hooks, "credentials sink"), Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// The response of the last attempt is checked like any other.
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return client
}

func transportFor(sink *vnfm.CredentialsSink) (*http.Transport, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("there is no usable HTTP transport")
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if sink.CACertificate != "" {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(sink.CACertificate)) {
			return nil, errors.New("ca_certificate of credentials_sink holds no certificate")
		}
		transport.TLSClientConfig.RootCAs = roots
	}
	return transport, nil
}

// hostOf returns the host of a URL: path and query may contain secrets.
func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Host
	}
	return "the credentials sink"
}
