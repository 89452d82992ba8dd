package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

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
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = retries, shortest, longest
	// The last answer is judged like the only one.
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	client.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if errors.As(err, new(*redirectError)) {
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
