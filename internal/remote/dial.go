package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
)

const (
	// connectTimeout bounds a connection, and handshakeTimeout the login over it: sshd
	// may look up names, and PAM may ask other hosts.
	connectTimeout   = 10 * time.Second
	handshakeTimeout = 30 * time.Second
	// firstPause and lastPause bound the time between two tries to connect.
	firstPause = 500 * time.Millisecond
	lastPause  = 5 * time.Second
	// bannerSize is how many bytes a host may say before the login.
	bannerSize = 64 << 10
)

// Dial connects. It keeps trying while the host boots (connection refused, no route, a
// handshake that is cut) until patience is over or ctx ends; without patience it tries
// once. Credentials that are refused and a host key that is not the expected one are
// errors at once. A host that was not reached is a *ConnectionError.
func Dial(ctx context.Context, h Host, patience time.Duration) (*Client, error) {
	ctx, span := tracing.Start(ctx, tracing.SSH, "ssh login")
	span.Text("server.address", h.name())
	c, err := dial(ctx, h, patience, defaultLiveness)
	span.End(err)
	return c, err
}

func dial(ctx context.Context, h Host, patience time.Duration, alive liveness) (*Client, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	began := time.Now()
	var last error
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		c, err := connect(ctx, h, alive)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			// A try that was stopped itself says nothing of the host.
			if last != nil {
				err = last
			}
			return nil, fmt.Errorf("connecting to %s was stopped after %s: %w; the last try: %w", h.name(), time.Since(began).Round(time.Second), context.Cause(ctx), err)
		}
		last = err
		left := patience - time.Since(began)
		if !boots(err) {
			return nil, fmt.Errorf("connecting to %s: %w", h.name(), err)
		}
		if left <= 0 {
			if patience > 0 {
				err = fmt.Errorf("it was tried for %s: %w", patience, err)
			}
			return nil, &ConnectionError{Host: h.name(), What: "logging in", Err: err}
		}
		// When ctx has ended, the next try says so.
		_ = poll.Sleep(ctx, min(pause, left))
	}
}

// errBoots is a host that lets nobody in yet, or not any more.
var errBoots = errors.New("the host is starting or stopping")

// boots reports a failure that passes when the host has booted.
func boots(err error) bool {
	var notFound *net.DNSError
	if errors.As(err, &notFound) && notFound.IsNotFound {
		return false
	}
	var network net.Error
	var tunnel *ssh.OpenChannelError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errBoots), errors.As(err, &network):
		return true
	case errors.As(err, &tunnel):
		return tunnel.Reason != ssh.Prohibited
	default:
		return false
	}
}

// connect tries to connect once.
func connect(ctx context.Context, h Host, alive liveness) (*Client, error) {
	if err := h.verifiable(); err != nil {
		return nil, err
	}
	var jump *Client
	if h.Jump != nil {
		var err error
		if jump, err = connect(ctx, *h.Jump, alive); err != nil {
			return nil, fmt.Errorf("jump host %s: %w", h.Jump.name(), err)
		}
	}
	c, err := login(ctx, h, jump, alive)
	if err != nil && jump != nil {
		_ = jump.Close()
	}
	return c, err
}

// login makes the connection and logs in.
func login(ctx context.Context, h Host, jump *Client, alive liveness) (*Client, error) {
	verifier, err := newVerifier(h)
	if err != nil {
		return nil, err
	}
	methods, done, err := h.authentication(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := reach(ctx, h, jump)
	if err != nil {
		return nil, err
	}
	// A handshake does not hear a context: its end is the end of the connection.
	limited, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, fmt.Errorf("the login did not complete within %s: %w", handshakeTimeout, errBoots))
	defer cancel()
	unhook := context.AfterFunc(limited, func() { _ = conn.Close() })
	var banner strings.Builder
	config := &ssh.ClientConfig{
		User: h.User, Auth: methods,
		HostKeyCallback: verifier.check, HostKeyAlgorithms: verifier.algorithms(),
		BannerCallback: func(message string) error {
			if banner.Len()+len(message) > bannerSize {
				return fmt.Errorf("the host sends a banner of more than %d bytes", bannerSize)
			}
			banner.WriteString(message)
			return nil
		},
	}
	made, channels, requests, err := ssh.NewClientConn(conn, h.endpoint(), config)
	if !unhook() && err == nil {
		_ = made.Close()
		err = limited.Err()
	}
	if err != nil {
		if limited.Err() != nil {
			return nil, context.Cause(limited)
		}
		return nil, h.refused(verifier.explain(err), banner.String())
	}
	c := newClient(h, ssh.NewClient(made, channels, requests), jump, alive)
	if err := verifier.pin(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// reach opens the connection, through the jump host if there is one.
func reach(ctx context.Context, h Host, jump *Client) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if jump != nil {
		return jump.DialContext(limited, "tcp", h.endpoint())
	}
	return (&net.Dialer{}).DialContext(limited, "tcp", h.endpoint())
}

// noQuestion is in the error of the library if a host offers questions last and asks none, as sshd does without PAM. The user is refused
// like any other.
const noQuestion = "unexpected message type 51 (expected 60)"

// refused tells a person why the host did not let the user in. The library has no type
// for it.
func (h Host) refused(err error, banner string) error {
	reason := err.Error()
	if !strings.Contains(reason, "unable to authenticate") && !strings.Contains(reason, noQuestion) {
		return err
	}
	banner = strings.Join(strings.Fields(banner), " ")
	// The messages of pam_nologin while a host boots, or goes down.
	for _, sign := range []string{"System is booting up", "System is going down", "not permitted to log in"} {
		if strings.Contains(banner, sign) {
			return fmt.Errorf("%w: %s", errBoots, banner)
		}
	}
	var offered []string
	if h.PrivateKey != "" {
		offered = append(offered, "the private key")
	}
	if h.Agent {
		offered = append(offered, "the keys of the agent")
	}
	if h.Password != "" {
		offered = append(offered, "the password")
	}
	text := fmt.Sprintf("the host does not accept %s of user %s", strings.Join(offered, " or "), h.User)
	_, tried, ok := strings.Cut(reason, "attempted methods [")
	if strings.Contains(reason, noQuestion) {
		tried, ok = "password keyboard-interactive", true
	}
	if ok {
		tried, _, _ = strings.Cut(tried, "]")
		text += fmt.Sprintf(" (tried: %s; sshd may allow less, see PasswordAuthentication and PermitRootLogin)", strings.TrimPrefix(tried, "none "))
	}
	if banner != "" {
		text += fmt.Sprintf("; it says %q", banner)
	}
	return errors.New(text)
}
