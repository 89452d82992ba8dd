package lcm

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestIsUnreachable tells a VIM that is gone from one that answers, whatever it answers.
func TestIsUnreachable(t *testing.T) {
	away := func(err error) error { return fmt.Errorf("reading: %w", &vnfm.UnreachableError{VIM: "edge", Err: err}) }
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
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, isUnreachable(c.err)) })
	}
}
