package vnfm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestIsGone tells a server that is gone from one that answers, whatever it answers.
func TestIsGone(t *testing.T) {
	away := func(err error) error { return fmt.Errorf("reading: %w", &UnreachableError{VIM: "edge", Err: err}) }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"refused connection":          {away(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), true},
		"no such host":                {away(&net.DNSError{IsNotFound: true}), true},
		"another server":              {away(x509.UnknownAuthorityError{}), true},
		"another name":                {away(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "edge"}), true},
		"expired certificate":         {away(x509.CertificateInvalidError{Reason: x509.Expired}), false},
		"handshake that is rejected":  {away(fmt.Errorf("remote: %w", tls.AlertError(42))), false},
		"answer of the server":        {errors.New("403 Forbidden"), false},
		"credentials that are absent": {fs.ErrNotExist, false},
		"success":                     {nil, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, IsGone(c.err)) })
	}
}

// TestUntilGone: a server is gone when three calls in a row say so, and when there is time for them.
func TestUntilGone(t *testing.T) {
	away := &UnreachableError{Peer: "host 192.0.2.1", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		answers []error
		limit   time.Duration
		gone    bool
		calls   int
	}{
		"silent":               {answers: []error{away, away, away}, gone: true, calls: 3},
		"back after a restart": {answers: []error{away, nil}, calls: 2},
		"another error":        {answers: []error{away, fs.ErrPermission}, calls: 2},
		"no time to ask":       {answers: []error{away, away, away}, limit: gonePause + gonePause/2, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.limit > 0 {
					limited, cancel := context.WithTimeout(ctx, c.limit)
					defer cancel()
					ctx = limited
				}
				calls := 0
				gone, err := UntilGone(ctx, func() error {
					calls++
					return c.answers[calls-1]
				})
				require.Equal(t, c.gone, gone)
				require.Equal(t, c.calls, calls)
				require.Equal(t, c.answers[calls-1], err)
			})
		})
	}
}
