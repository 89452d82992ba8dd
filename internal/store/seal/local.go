package seal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// localKeys are the identities (AGE-SECRET-KEY-1..., one per line) of a key file, a text or
// the store itself. The first seals, all of them open: a new key is put before the old ones.
type localKeys struct {
	// origin says where the identities come from, for errors.
	origin string
	// inStore is set for those that the store itself keeps: nobody edits them there.
	inStore bool
	// read reads them, and makes one when there is none and create is set; without that, none
	// is errNoKey. It is nil when the identities came as text.
	read func(ctx context.Context, create bool) ([]*age.X25519Identity, error)
	// given is set for those that the user has given. The others are where who can write the
	// store can often write as well.
	given bool

	mu         sync.Mutex
	identities []*age.X25519Identity
}

func keysFromFile(path string) *localKeys {
	return &localKeys{origin: "the key file " + path, read: func(_ context.Context, create bool) ([]*age.X25519Identity, error) {
		return readKeyFile(path, create)
	}}
}

func keysFromText(origin, text string) (*localKeys, error) {
	identities, err := parseIdentities(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	return &localKeys{origin: origin, identities: identities}, nil
}

// parseIdentities reads one identity per line; empty lines and lines with # are
// comments. No error holds a part of the text.
func parseIdentities(text string) ([]*age.X25519Identity, error) {
	var identities []*age.X25519Identity
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := age.ParseX25519Identity(line)
		if err != nil {
			// The error of age is left out: it can quote the line.
			return nil, fmt.Errorf("line %d is not an age identity (AGE-SECRET-KEY-1...): make one with age-keygen", number)
		}
		identities = append(identities, id)
	}
	if len(identities) == 0 {
		return nil, errors.New("there is no age identity (AGE-SECRET-KEY-1...) in it: make one with age-keygen")
	}
	return identities, nil
}

// sealing returns the identity that seals; a missing key file, or key of the store, is made.
func (l *localKeys) sealing(ctx context.Context) (*age.X25519Identity, error) {
	all, err := l.load(ctx, true)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// opening returns the identity of a recipient, or a *WrongKeyError.
func (l *localKeys) opening(ctx context.Context, recipient string) (*age.X25519Identity, error) {
	all, err := l.load(ctx, false)
	if err != nil && !errors.Is(err, errNoKey) {
		return nil, fmt.Errorf("sealed for the recipient %s: %w", recipient, err)
	}
	wrong := &WrongKeyError{Sealed: recipient, Origin: l.origin, InStore: l.inStore, Given: l.given}
	for _, id := range all {
		if id.Recipient().String() == recipient {
			return id, nil
		}
		wrong.AtHand = append(wrong.AtHand, id.Recipient().String())
	}
	return nil, wrong
}

// has reports whether an identity of that recipient is among them.
func (l *localKeys) has(ctx context.Context, recipient string) (bool, error) {
	_, err := l.opening(ctx, recipient)
	if _, wrong := errors.AsType[*WrongKeyError](err); wrong {
		return false, nil
	}
	return err == nil, err
}

func (l *localKeys) load(ctx context.Context, create bool) ([]*age.X25519Identity, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.identities == nil {
		identities, err := l.read(ctx, create)
		if err != nil {
			return nil, err
		}
		l.identities = identities
	}
	return l.identities, nil
}

// WrongKeyError says that something was sealed for another key than those at hand.
type WrongKeyError struct {
	// Sealed is the recipient (age1...) that it was sealed for, AtHand those of the
	// keyring; none when there is no key file.
	Sealed string
	AtHand []string
	// Origin says where the keys at hand come from.
	Origin string
	// InStore is set when that is the store itself.
	InStore bool
	// Given is set when the user has given the keys.
	Given bool
}

// Is makes errors.Is(err, vnfm.ErrUnopened) true for keys that the provider has made itself. A key that the user has given is probably
// another one than it should be, or not there on this machine: nothing is sealed again for it.
func (e *WrongKeyError) Is(target error) bool { return target == vnfm.ErrUnopened && !e.Given }

func (e *WrongKeyError) Error() string {
	lost := "or, when it is lost, " + storedAgain
	if e.Given {
		lost = "or, when it is lost, raise the *_wo_version of the secrets and apply each vnf_vim with -refresh=false and -target"
	}
	atHand := strings.Join(e.AtHand, " and ")
	switch {
	case e.InStore && len(e.AtHand) == 0:
		return fmt.Sprintf("sealed for the recipient %s, but no key is configured, and %s does not exist: give the identity of %s (AGE-SECRET-KEY-1...) with encryption.key_file, encryption.key or %s, %s",
			e.Sealed, e.Origin, e.Sealed, EnvKey, lost)
	case e.InStore:
		return fmt.Sprintf("sealed for the recipient %s, but no key is configured, and %s is that of %s: give the identity of %s (AGE-SECRET-KEY-1...) with encryption.key_file, encryption.key or %s, %s",
			e.Sealed, e.Origin, atHand, e.Sealed, EnvKey, lost)
	case len(e.AtHand) == 0:
		return fmt.Sprintf("sealed for the recipient %s, but %s does not exist: restore it, or name the file that has the key with encryption.key_file, %s", e.Sealed, e.Origin, lost)
	}
	return fmt.Sprintf("sealed for the recipient %s, but %s has the key of %s: put the identity of %s (AGE-SECRET-KEY-1...) on a line after the first one there, %s",
		e.Sealed, e.Origin, atHand, e.Sealed, lost)
}
