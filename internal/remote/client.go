package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// liveness says when a connection on which nothing comes is given up.
type liveness struct {
	// every is the time between two questions, patience how long an answer may take.
	every, patience time.Duration
}

// defaultLiveness notices a host that is gone within 45 seconds.
var defaultLiveness = liveness{every: 15 * time.Second, patience: 30 * time.Second}

// Client is a connection to a host. It is safe for concurrent use.
type Client struct {
	host Host
	name string
	conn *ssh.Client
	// jump is the connection through which this one goes, if any.
	jump *Client
	// sessions are the turns of those that run.
	sessions chan struct{}
	sudoers  sudoers
	// gone is closed when the connection has ended, for the reason cause.
	gone  chan struct{}
	cause error
	// verdict is why it was ended here.
	once    sync.Once
	verdict error
}

func newClient(h Host, conn *ssh.Client, jump *Client, alive liveness) *Client {
	c := &Client{
		host: h, name: h.name(), conn: conn, jump: jump,
		sessions: make(chan struct{}, sessionsAtOnce), gone: make(chan struct{}),
	}
	go func() {
		err := conn.Wait()
		c.once.Do(func() { c.verdict = fmt.Errorf("the host has closed it, or is unreachable (%w)", err) })
		c.cause = c.verdict
		close(c.gone)
	}()
	go c.keepAlive(alive)
	return c
}

// keepAlive asks the host for a sign of life, and ends the connection when none comes.
func (c *Client) keepAlive(alive liveness) {
	ticker := time.NewTicker(alive.every)
	defer ticker.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-ticker.C:
		}
		answered := make(chan struct{})
		go func() {
			// A host that does not know the question says so, which is an answer. An
			// error is a connection that has ended.
			_, _, _ = c.conn.SendRequest("keepalive@openssh.com", true, nil)
			close(answered)
		}()
		timer := time.NewTimer(alive.patience)
		select {
		case <-answered:
			timer.Stop()
		case <-timer.C:
			c.end(fmt.Errorf("the host has not answered for %s", alive.patience))
			return
		}
	}
}

// errClosed is a client that is used after its end.
var errClosed = errors.New("it was closed here")

// end closes the connection for a reason.
func (c *Client) end(reason error) {
	c.once.Do(func() { c.verdict = reason })
	_ = c.conn.Close()
}

// Close ends the connection, those to jump hosts, and what still runs over it.
func (c *Client) Close() error {
	c.end(errClosed)
	if c.jump != nil {
		return c.jump.Close()
	}
	return nil
}

// Name is the host for messages, user@address.
func (c *Client) Name() string { return c.name }

// ErrNoForwarding is the refusal of a host to open connections for its clients.
var ErrNoForwarding = errors.New("sshd of the host forbids forwarding; set AllowTcpForwarding to yes or local in /etc/ssh/sshd_config there and reload sshd")

// DialContext opens a connection from the host to an address.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.conn.DialContext(ctx, network, address)
	if err == nil {
		return conn, nil
	}
	var refused *ssh.OpenChannelError
	if errors.As(err, &refused) && refused.Reason == ssh.Prohibited {
		return nil, fmt.Errorf("connecting to %s through %s: %w: %w", address, c.name, ErrNoForwarding, err)
	}
	return nil, fmt.Errorf("connecting to %s through %s: %w", address, c.name, err)
}

// Mask takes the secrets of the host, and others, out of a text.
func (c *Client) Mask(text string, secrets ...vnfm.Secret) string {
	return c.mask(secrets...).hide(text)
}

// mask hides the secrets of the host, and others.
func (c *Client) mask(secrets ...vnfm.Secret) mask {
	for h := &c.host; h != nil; h = h.Jump {
		secrets = append(secrets, h.Password, h.SudoPassword, h.PrivateKey, h.Passphrase)
	}
	return newMask(secrets...)
}

// Each does something on many hosts, on at most bound of them at once, and joins the
// errors in the order of the hosts. One that fails does not keep the others from their
// turn; when ctx ends no more are begun. do names its host in its errors.
func Each[T any](ctx context.Context, bound int, hosts []T, do func(ctx context.Context, host T) error) error {
	errs := make([]error, len(hosts))
	turn := make(chan struct{}, max(bound, 1))
	var all sync.WaitGroup
	for i, host := range hosts {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			errs[i] = ctx.Err()
			break
		}
		all.Go(func() {
			defer func() { <-turn }()
			errs[i] = do(ctx, host)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
