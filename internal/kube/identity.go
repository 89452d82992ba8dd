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

// identity is what a request authenticates with: a token, a user name and password, or a client
// certificate.
type identity struct {
	token, username, password string
	certificate               *tls.Certificate
	// key is the private key of the certificate as text, which errors must not repeat.
	key string
	// expires is when it ends by its own account; zero is not known.
	expires time.Time
}

// expiryMargin is how long before its end an identity is not used any more: a request takes
// time, and clocks differ.
const expiryMargin = 10 * time.Second

func (i *identity) expired() bool {
	return !i.expires.IsZero() && time.Now().Add(expiryMargin).After(i.expires)
}

// same reports whether two identities would be refused alike.
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

// authorize adds the identity to a request. A certificate belongs to the connection.
func (i *identity) authorize(req *http.Request) {
	switch {
	case i.token != "":
		req.Header.Set("Authorization", "Bearer "+i.token)
	case i.username != "":
		req.SetBasicAuth(i.username, i.password)
	}
}

// identitySource reads credentials that can be read again. It is safe for concurrent use.
type identitySource interface {
	// String names the source in errors: the token file "/run/token".
	String() string
	// current returns the identity for the next request.
	current(ctx context.Context) (*identity, error)
	// renewed reads again after an identity was refused. It returns nil when that gives no
	// other one.
	renewed(ctx context.Context, refused *identity) (*identity, error)
}

// fixedIdentity is a source that always gives the same.
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

// SourceError says that credentials cannot be read on this machine.
type SourceError struct {
	Peer vnfm.Peer
	// Source names where they are read.
	Source string
	Err    error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("reading the credentials of %s from %s: %v", e.Peer.Name, e.Source, e.Err)
}

func (e *SourceError) Unwrap() error { return e.Err }

// identity returns what the next request authenticates with; nil when the transport does it.
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

// renewedIdentity reads the credentials again after they were refused, nil when there are no
// others.
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

// use has new connections authenticate with an identity, and ends those that authenticate with
// another certificate.
func (c *Client) use(ctx context.Context, who *identity) {
	vnfm.Conceal(ctx, who.token, who.password, who.key)
	if before := c.present.Swap(who); before != nil && !bytes.Equal(leaf(before.certificate), leaf(who.certificate)) {
		c.connections.CloseAll()
	}
}

// presentCertificate is the client certificate of a new connection, nil for none.
func (c *Client) presentCertificate() (*tls.Certificate, error) {
	who := c.present.Load()
	if who == nil {
		return nil, errors.New("no credentials were read yet")
	}
	return who.certificate, nil
}
