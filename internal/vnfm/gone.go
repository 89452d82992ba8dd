package vnfm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

const (
	// goneTries is how often the other side is asked before it counts as gone, with gonePause between two tries: a restart is no
	// reason to forget what is there.
	goneTries = 3
	gonePause = 2 * time.Second
)

// IsGone reports whether an error says that there is no such server any more. One with an expired certificate is there, and so is
// one that rejects the handshake, for example for a client certificate.
func IsGone(err error) bool {
	var alert tls.AlertError
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired || errors.As(err, &alert) {
		return false
	}
	return errors.As(err, new(*UnreachableError))
}

// UntilGone calls a function until its error is not that of a server which is gone, or until three calls have said so: then gone is
// true. A server counts as there while ctx leaves no time to ask. err is that of the last call.
func UntilGone(ctx context.Context, ask func() error) (gone bool, err error) {
	for try := 1; ; try++ {
		err = ask()
		switch {
		case ctx.Err() != nil || !IsGone(err):
			return false, err
		case try == goneTries:
			return true, err
		case poll.Sleep(ctx, gonePause) != nil:
			return false, err
		}
	}
}
