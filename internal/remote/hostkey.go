package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// parseHostKeys reads lines as in authorized_keys.
func parseHostKeys(texts []string) ([]ssh.PublicKey, error) {
	var keys []ssh.PublicKey
	for _, text := range texts {
		key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(text))
		if marker := markerOf(text, options); marker != "" {
			return nil, fmt.Errorf("%q is not a host key that can be trusted: it is marked %s; give the key of the host itself, as ssh-keyscan prints it", text, marker)
		}
		if err != nil || len(bytes.TrimSpace(rest)) > 0 {
			return nil, fmt.Errorf("%q is not a host key: a host key is one line such as \"ssh-ed25519 AAAA…\", as ssh-keyscan prints it", text)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// markerOf is the mark of a line of known_hosts or authorized_keys whose key is not that of
// a host: it is revoked, or a CA's.
func markerOf(text string, options []string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if strings.HasPrefix(first, "@") {
		return first
	}
	if slices.Contains(options, "cert-authority") {
		return "cert-authority"
	}
	return ""
}

// verifier accepts the key of one host.
type verifier struct {
	host Host
	// wanted are the keys that are accepted; at first use there are none.
	wanted []ssh.PublicKey
	// met is the key that the host has.
	met ssh.PublicKey
}

func newVerifier(h Host) (*verifier, error) {
	v := &verifier{host: h}
	lines := h.HostKeys
	if len(lines) == 0 {
		if pinned := h.Pins.Pinned(h.pin()); pinned != "" {
			lines = []string{pinned}
		}
	}
	var err error
	v.wanted, err = parseHostKeys(lines)
	return v, err
}

// preferred are the kinds of keys that a host is asked for at first use.
var preferred = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
}

// algorithms are those that the host may use: a host with several keys is asked for the
// one that is known, so that it is not taken for a changed one.
func (v *verifier) algorithms() []string {
	if len(v.wanted) == 0 {
		return preferred
	}
	var out []string
	for _, key := range v.wanted {
		kinds := []string{key.Type()}
		if key.Type() == ssh.KeyAlgoRSA {
			kinds = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		}
		for _, kind := range kinds {
			if !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	return out
}

// check is an ssh.HostKeyCallback.
func (v *verifier) check(_ string, _ net.Addr, key ssh.PublicKey) error {
	same := func(wanted ssh.PublicKey) bool { return bytes.Equal(wanted.Marshal(), key.Marshal()) }
	if len(v.wanted) > 0 && !slices.ContainsFunc(v.wanted, same) {
		return v.refusal(key.Type() + " " + ssh.FingerprintSHA256(key))
	}
	if len(v.wanted) == 0 && v.host.Strict {
		return &hostKeyError{text: fmt.Sprintf("host key of %s is %s, and no key of it is known: compare it with the host's own, then give it as one of its host keys: %s",
			v.host.endpoint(), ssh.FingerprintSHA256(key), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))))}
	}
	v.met = key
	return nil
}

// hostKeyError is a host that is not the one that it should be.
type hostKeyError struct {
	text string
	// changed says that the host has another key than the known one; else none is known.
	changed bool
}

func (e *hostKeyError) Error() string { return e.text }

// refusal tells what was expected, what the host has, and what to do.
func (v *verifier) refusal(has string) error {
	var wanted []string
	for _, key := range v.wanted {
		wanted = append(wanted, key.Type()+" "+ssh.FingerprintSHA256(key))
	}
	if len(v.host.HostKeys) > 0 {
		return &hostKeyError{changed: true, text: fmt.Sprintf("host key of %s is %s, and not %s as configured: the connection may be intercepted; if the host was reinstalled, correct its host keys",
			v.host.endpoint(), has, strings.Join(wanted, " or "))}
	}
	return &hostKeyError{changed: true, text: fmt.Sprintf("host key of %s has changed: it is %s, and was %s at first use (pin %q): the connection may be intercepted; if the host was reinstalled, remove its pin or give its host keys",
		v.host.endpoint(), has, strings.Join(wanted, " or "), v.host.pin())}
}

// explain tells of a host that has no key of the known kind any more.
func (v *verifier) explain(err error) error {
	var none *ssh.AlgorithmNegotiationError
	if len(v.wanted) > 0 && errors.As(err, &none) && none.What == "host key" {
		return v.refusal("one of another kind (" + strings.Join(none.RequestedAlgorithms, ", ") + ")")
	}
	return err
}

// pin keeps the key of first use.
func (v *verifier) pin(ctx context.Context) error {
	if len(v.wanted) > 0 {
		return nil
	}
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(v.met)))
	if err := v.host.Pins.Pin(ctx, v.host.pin(), key); err != nil {
		return fmt.Errorf("keeping the host key of %s: %w", v.host.endpoint(), err)
	}
	return nil
}
