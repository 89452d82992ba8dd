package fetch

import (
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

// Client returns a client that tries again, and trusts the servers that the access says.
func Client(access *vnfm.ChartAccess) (*retryablehttp.Client, error) {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = retries, shortest, longest
	// The last answer is judged like the only one.
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	if access == nil || (access.CACertificate == "" && !access.InsecureSkipTLSVerify) {
		return client, nil
	}
	transport, ok := client.HTTPClient.Transport.(*http.Transport)
	if !ok {
		return nil, errors.New("there is no usable HTTP transport")
	}
	transport.TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: access.InsecureSkipTLSVerify, //nolint:gosec // the user asks for it by name
	}
	if access.CACertificate != "" {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(access.CACertificate)) {
			return nil, errors.New("the CA certificate holds no certificate")
		}
		transport.TLSClientConfig.RootCAs = roots
	}
	return client, nil
}
