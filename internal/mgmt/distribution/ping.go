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
	"strings"
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

// Answer is what a registry says to a client.
type Answer struct {
	// Status is 200, or 401 when it wants another user, or a user at all.
	Status int
	// Tokens says that it wants a token of another server, for which users log in there.
	Tokens bool
}

// Ping asks for /v2/, where every registry says that it is one. Any status but 200 and 401
// is an error, like no answer.
func (e Endpoint) Ping(ctx context.Context) (answer Answer, err error) {
	scheme := "http"
	if e.TLS != nil {
		scheme = "https"
	}
	address := scheme + "://" + e.Server + "/v2/"
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return Answer{}, fmt.Errorf("%s is not a usable address: %w", address, err)
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
		return Answer{}, fmt.Errorf("%s does not answer: %w", address, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxDrained))
	switch response.StatusCode {
	case http.StatusOK, http.StatusUnauthorized:
		challenge := strings.ToLower(response.Header.Get("WWW-Authenticate"))
		return Answer{Status: response.StatusCode, Tokens: strings.HasPrefix(challenge, "bearer")}, nil
	case http.StatusBadRequest:
		if e.TLS == nil {
			return Answer{}, fmt.Errorf("%s answers %s: the server may speak HTTPS", address, response.Status)
		}
	}
	return Answer{}, fmt.Errorf("%s answers %s, as no registry does", address, response.Status)
}
