package connect

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// pingTimeout bounds one request.
const pingTimeout = 15 * time.Second

// maxDrained bounds the bytes read from a response. The content is ignored.
const maxDrained = 64 << 10

// Endpoint is the address and login of a registry for a client on a host.
type Endpoint struct {
	// Server is host[:port].
	Server string
	// Secure selects HTTPS.
	Secure bool
	// Authorities is a PEM bundle of CAs, in addition to the CAs that the host trusts.
	Authorities string
	// Exactly is the only accepted certificate, with any issuer and names; nil means normal verification.
	Exactly *x509.Certificate
	// Username and Password are sent if Username is set.
	Username string
	Password vnfm.Secret
}

// Answer is the response of a registry to a ping.
type Answer struct {
	// Status is 200, or 401 if the registry needs another user, or any user.
	Status int
	// Tokens says that the registry needs a token from another server, where users log in.
	Tokens bool
}

// url is the API root, which every registry serves.
func (e Endpoint) url() string {
	if e.Secure {
		return "https://" + e.Server + "/v2/"
	}
	return "http://" + e.Server + "/v2/"
}

// Ping sends a request from a host to a registry. Any status but 200 and 401 is an error, like no answer.
func (e Endpoint) Ping(ctx context.Context, client *remote.Client) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	status, challenge, err := e.ask(ctx, client)
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("%s does not answer: %w", e.url(), err)
	case status == http.StatusOK, status == http.StatusUnauthorized:
		return Answer{Status: status, Tokens: strings.HasPrefix(strings.ToLower(challenge), "bearer")}, nil
	case status == http.StatusBadRequest && !e.Secure:
		return Answer{}, fmt.Errorf("%s answers %d: the server may speak HTTPS", e.url(), status)
	}
	return Answer{}, fmt.Errorf("%s answers %d, which is not the answer of a registry", e.url(), status)
}

// ask sends the request over a connection forwarded by the host, which needs no program for it.
func (e Endpoint) ask(ctx context.Context, client *remote.Client) (status int, challenge string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url(), http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if e.Username != "" {
		request.SetBasicAuth(e.Username, e.Password.Reveal())
	}
	transport := &http.Transport{DialContext: client.DialContext, DisableKeepAlives: true}
	if e.Secure {
		if transport.TLSClientConfig, err = e.verification(ctx, client); err != nil {
			return 0, "", err
		}
	}
	defer transport.CloseIdleConnections()
	httpClient := &http.Client{
		Transport:     tracing.Transport(transport, tracing.Registries),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, "", endpoint.WithoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxDrained))
	return response.StatusCode, response.Header.Get("WWW-Authenticate"), nil
}

// systemAuthorities is the bundle of trusted CAs on Debian and Ubuntu.
const systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

// verification returns the TLS configuration that verifies the certificate.
func (e Endpoint) verification(ctx context.Context, client *remote.Client) (*tls.Config, error) {
	if e.Exactly != nil {
		return &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // The certificate is compared.
			VerifyConnection: func(state tls.ConnectionState) error {
				if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, e.Exactly.Raw) {
					return errors.New("the server has another certificate than the configured one")
				}
				return nil
			},
		}, nil
	}
	known, err := client.ReadFile(ctx, systemAuthorities, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(known)
	roots.AppendCertsFromPEM([]byte(e.Authorities))
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, nil
}
