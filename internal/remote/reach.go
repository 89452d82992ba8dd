package remote

import (
	"context"
	"errors"
	"net"
)

// IsGone reports whether an error of Dial, or of Probe, says that there is no such host any more: it has no address, does not answer,
// or has another host key than the known one. A host that rejects a login is there, and so is one of which no key is known.
func IsGone(err error) bool {
	if key, ok := errors.AsType[*hostKeyError](err); ok {
		return key.changed
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return true
	}
	return errors.As(err, new(*ConnectionError))
}

// Probe opens a connection to a host, or to the jump host that comes first on the way to it, and closes it: it needs no login, and
// sends nothing. A host that does not answer is a *ConnectionError.
func Probe(ctx context.Context, h Host) error {
	for h.Jump != nil {
		h = *h.Jump
	}
	conn, err := reach(ctx, h, nil)
	switch {
	case err == nil:
		return conn.Close()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &ConnectionError{Host: h.name(), What: "connecting", Err: err}
}
