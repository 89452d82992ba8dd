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

// pingTimeout bounds one question.
const pingTimeout = 15 * time.Second

// maxDrained bounds what is read of an answer, of which nothing is used.
const maxDrained = 64 << 10

// Endpoint is a registry as a client on a host reaches it.
type Endpoint struct {
	// Server is host[:port].
	Server string
	// Secure is HTTPS.
	Secure bool
	// Authorities is the PEM of those that are trusted beside the ones that the host knows.
	Authorities string
	// Exactly is the only certificate that is accepted, with any issuer and any
	// names; nil has it verified.
	Exactly *x509.Certificate
	// Username and Password are sent when there is a user.
	Username string
	Password vnfm.Secret
}

// Answer is what a registry says to a client.
type Answer struct {
	// Status is 200, or 401 when it wants another user, or a user at all.
	Status int
	// Tokens says that it wants a token of another server, for which users log in there.
	Tokens bool
}

// url is what every registry answers that it is one.
func (e Endpoint) url() string {
	if e.Secure {
		return "https://" + e.Server + "/v2/"
	}
	return "http://" + e.Server + "/v2/"
}

// Ping asks a registry from a host. Any status but 200 and 401 is an error, like no answer.
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

// ask sends the request over a connection that the host forwards, so that it needs no program there.
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

// systemAuthorities are those that a Debian or Ubuntu knows.
const systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

// verification is how the certificate is verified.
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
