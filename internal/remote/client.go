package remote

import (
	"context"
	"errors"
	"net"
	"time"
)

// Client is a connection to a host. It is safe for concurrent use.
type Client struct {
	name string
}

// Dial connects. It keeps trying while the host boots (connection refused, no route, a
// handshake that is cut) until patience is over or ctx ends. Credentials that are refused
// and a host key that is not the expected one are errors at once.
func Dial(ctx context.Context, h Host, patience time.Duration) (*Client, error) {
	return nil, errors.ErrUnsupported
}

// Close ends the connection, those to jump hosts, and what still runs over it.
func (c *Client) Close() error { return errors.ErrUnsupported }

// Name is the host for messages, user@address.
func (c *Client) Name() string { return c.name }

// DialContext opens a connection from the host to an address.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return nil, errors.ErrUnsupported
}
