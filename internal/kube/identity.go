package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// identity holds the credentials of a request: a token, a user name and password, or a client
// certificate.
type identity struct {
	token, username, password string
	certificate               *tls.Certificate
	// key is the private key of the certificate in PEM form, which errors must not repeat.
	key string
	// expires is the expiry that the source reports; zero if unknown.
	expires time.Time
}

// expiryMargin is the time before the expiry of an identity from which it is no longer used: a
// request takes time, and clocks differ.
const expiryMargin = 10 * time.Second

func (i *identity) expired() bool {
	return !i.expires.IsZero() && time.Now().Add(expiryMargin).After(i.expires)
}

// same reports whether the server would treat two identities alike.
func (i *identity) same(other *identity) bool {
	return i.token == other.token && i.username == other.username && i.password == other.password &&
		bytes.Equal(leaf(i.certificate), leaf(other.certificate))
}

func leaf(c *tls.Certificate) []byte {
	if c == nil || len(c.Certificate) == 0 {
		return nil
	}
	return c.Certificate[0]
}

// authorize adds the identity to a request. A certificate belongs to the connection instead.
func (i *identity) authorize(req *http.Request) {
	switch {
	case i.token != "":
		req.Header.Set("Authorization", "Bearer "+i.token)
	case i.username != "":
		req.SetBasicAuth(i.username, i.password)
	}
}

// identitySource reads credentials that may change. It is safe for concurrent use.
type identitySource interface {
	// String names the source in errors: the token file "/run/token".
	String() string
	// current returns the identity for the next request.
	current(ctx context.Context) (*identity, error)
	// renewed reads the credentials again after a rejection. It returns nil if they have not
	// changed.
	renewed(ctx context.Context, refused *identity) (*identity, error)
}

// fixedIdentity is a source of one constant identity.
type fixedIdentity struct{ only *identity }

// String implements identitySource.
func (fixedIdentity) String() string { return "the configuration" }

func (f fixedIdentity) current(context.Context) (*identity, error) { return f.only, nil }

func (f fixedIdentity) renewed(_ context.Context, refused *identity) (*identity, error) {
	if f.only.same(refused) {
		return nil, nil
	}
	return f.only, nil
}

// SourceError means that credentials cannot be read on this machine.
type SourceError struct {
	Peer vnfm.Peer
	// Source names the file, program or kubeconfig with the credentials.
	Source string
	Err    error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("reading the credentials of %s from %s: %v", e.Peer.Name, e.Source, e.Err)
}

func (e *SourceError) Unwrap() error { return e.Err }

// identity returns the identity for the next request; nil if the transport authenticates.
func (c *Client) identity(ctx context.Context) (*identity, error) {
	if c.source == nil {
		return nil, nil
	}
	who, err := c.source.current(ctx)
	if err != nil {
		return nil, c.unread(ctx, err)
	}
	c.use(ctx, who)
	return who, nil
}

// renewedIdentity reads the credentials again after a rejection; nil if they have not changed.
func (c *Client) renewedIdentity(ctx context.Context, refused *identity) (*identity, error) {
	if c.source == nil {
		return nil, nil
	}
	who, err := c.source.renewed(ctx, refused)
	if err != nil {
		return nil, c.unread(ctx, fmt.Errorf("%w; the API server refused those that were read before", err))
	}
	if who != nil {
		c.use(ctx, who)
	}
	return who, nil
}

func (c *Client) unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &SourceError{Peer: c.peer, Source: c.source.String(), Err: err}
}

// use makes new connections authenticate with an identity. If its certificate is a new one, all
// open connections are closed, because they authenticate with the old one.
func (c *Client) use(ctx context.Context, who *identity) {
	vnfm.Conceal(ctx, who.token, who.password, who.key)
	if before := c.present.Swap(who); before != nil && !bytes.Equal(leaf(before.certificate), leaf(who.certificate)) {
		c.connections.CloseAll()
	}
}

// presentCertificate returns the client certificate for a new connection; nil for an identity
// without certificate.
func (c *Client) presentCertificate() (*tls.Certificate, error) {
	who := c.present.Load()
	if who == nil {
		return nil, errors.New("no credentials were read yet")
	}
	return who.certificate, nil
}
