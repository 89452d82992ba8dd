package remote

import (
	"context"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Host says how a host is reached over SSH.
type Host struct {
	// Address is an IP address or a name.
	Address string
	// Port is 22 when it is 0.
	Port int
	User string
	// Password is that of the login, and sudo's unless SudoPassword is set.
	Password     vnfm.Secret
	SudoPassword vnfm.Secret
	// PrivateKey is PEM, OpenSSH or PKCS; an encrypted one needs Passphrase.
	PrivateKey vnfm.Secret
	Passphrase vnfm.Secret
	// Agent offers the keys of the agent at SSH_AUTH_SOCK.
	Agent bool
	// Jump is the host through which this one is reached; it may have one itself.
	Jump *Host
	// HostKeys are lines as in authorized_keys, "ssh-ed25519 AAAA…". When given, only
	// these are accepted.
	HostKeys []string
	// Pins is where the key of first use is kept when there are no HostKeys. Without
	// both the host is refused.
	Pins Pins
	// PinName is the name of the pin, address:port when it is empty.
	PinName string
}

// Pins keeps host keys met at first use.
type Pins interface {
	// Pinned returns the key, as a line of authorized_keys; empty when there is none.
	Pinned(name string) string
	// Pin keeps a key.
	Pin(ctx context.Context, name, key string) error
}

// Check says what is wrong with a host without reaching it: user, port, private key and
// its passphrase, host keys, and the same of its jump hosts.
func (h Host) Check() error { return errors.ErrUnsupported }
