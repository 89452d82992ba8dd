// Package distribution asks container registries whether they answer, over any way there is
// to them.
package distribution

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// pingTimeout bounds one question.
const pingTimeout = 15 * time.Second

// maxDrained bounds what is read of an answer, of which nothing is used.
const maxDrained = 64 << 10

// Endpoint is a registry as a client reaches it.
type Endpoint struct {
	// Server is host[:port].
	Server string
	// TLS is how its certificate is verified; nil is HTTP.
	TLS *tls.Config
	// Username and Password are sent when there is a user.
	Username string
	Password vnfm.Secret
	// Dial opens connections; it is handed "tcp" and an address with a port.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Ping asks for /v2/, where every registry says that it is one, and returns the HTTP status:
// 200, or 401 when it wants a user. Any other status is an error, like no answer.
func (e Endpoint) Ping(ctx context.Context) (status int, err error) {
	scheme := "http"
	if e.TLS != nil {
		scheme = "https"
	}
	address := scheme + "://" + e.Server + "/v2/"
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("%s is not a usable address: %w", address, err)
	}
	if e.Username != "" {
		request.SetBasicAuth(e.Username, e.Password.Reveal())
	}
	transport := &http.Transport{DialContext: e.Dial, TLSClientConfig: e.TLS, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return 0, fmt.Errorf("%s does not answer: %w", address, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxDrained))
	switch response.StatusCode {
	case http.StatusOK, http.StatusUnauthorized:
		return response.StatusCode, nil
	case http.StatusBadRequest:
		if e.TLS == nil {
			return 0, fmt.Errorf("%s answers %s: the server may speak HTTPS", address, response.Status)
		}
	}
	return 0, fmt.Errorf("%s answers %s, as no registry does", address, response.Status)
}
