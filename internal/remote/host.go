package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

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
	// Strict refuses a host whose key is neither given nor pinned, before any credential is sent.
	Strict bool
	// PinName is the name of the pin, address:port when it is empty.
	PinName string
}

// Pins keeps host keys met at first use. It is safe for concurrent use.
type Pins interface {
	// Pinned returns the key, as a line of authorized_keys; empty when there is none.
	Pinned(name string) string
	// Pin keeps a key.
	Pin(ctx context.Context, name, key string) error
}

// Check says what is wrong with a host without reaching it: address, user, port, private
// key and its passphrase, host keys, and the same of its jump hosts.
func (h Host) Check() error {
	switch {
	case h.Address == "" || strings.ContainsAny(h.Address, " \t\n/@"):
		return fmt.Errorf("%q is not the address of a host", h.Address)
	case h.Port < 0 || h.Port > 65535:
		return fmt.Errorf("host %s: %d is not a port", h.Address, h.Port)
	case h.User == "":
		return fmt.Errorf("host %s: a user is missing", h.Address)
	case h.Password == "" && h.PrivateKey == "" && !h.Agent:
		return fmt.Errorf("host %s: user %s has neither a password nor a private key, and the SSH agent is not used", h.Address, h.User)
	}
	if h.PrivateKey != "" {
		if _, err := h.signer(); err != nil {
			return fmt.Errorf("host %s: %w", h.Address, err)
		}
	} else if h.Passphrase != "" {
		return fmt.Errorf("host %s: a passphrase is given without a private key", h.Address)
	}
	if _, err := parseHostKeys(h.HostKeys); err != nil {
		return fmt.Errorf("host %s: %w", h.Address, err)
	}
	if h.Jump == nil {
		return nil
	}
	if err := h.Jump.Check(); err != nil {
		return fmt.Errorf("jump host of %s: %w", h.Address, err)
	}
	return nil
}

// verifiable reports a host whose key nobody could tell.
func (h Host) verifiable() error {
	if len(h.HostKeys) == 0 && h.Pins == nil {
		return errors.New("its host key is not known and cannot be stored: give its host keys")
	}
	return nil
}

// endpoint is the address with the port.
func (h Host) endpoint() string {
	port := 22
	if h.Port != 0 {
		port = h.Port
	}
	return net.JoinHostPort(strings.Trim(h.Address, "[]"), strconv.Itoa(port))
}

// name is the host for messages.
func (h Host) name() string {
	if h.Port == 0 || h.Port == 22 {
		return h.User + "@" + h.Address
	}
	return h.User + "@" + h.endpoint()
}

// pin is the name of the pin.
func (h Host) pin() string {
	if h.PinName != "" {
		return h.PinName
	}
	return h.endpoint()
}
