package seal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"filippo.io/age"
)

// localKeys are the identities (AGE-SECRET-KEY-1..., one per line) of a key file or a
// text. The first seals, all of them open: a new key is put before the old ones.
type localKeys struct {
	// origin says where the identities come from, for errors.
	origin string
	// file is empty when the identities came as text.
	file string

	mu         sync.Mutex
	identities []*age.X25519Identity
}

func keysFromFile(path string) *localKeys {
	return &localKeys{origin: "the key file " + path, file: path}
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

// sealing returns the identity that seals; a missing key file is made.
func (l *localKeys) sealing() (*age.X25519Identity, error) {
	all, err := l.load(true)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// opening returns the identity of a recipient, or a *WrongKeyError.
func (l *localKeys) opening(recipient string) (*age.X25519Identity, error) {
	all, err := l.load(false)
	if errors.Is(err, errNoKeyFile) {
		return nil, &WrongKeyError{Sealed: recipient, Origin: l.origin}
	}
	if err != nil {
		return nil, fmt.Errorf("sealed for the recipient %s: %w", recipient, err)
	}
	i := slices.IndexFunc(all, func(id *age.X25519Identity) bool { return id.Recipient().String() == recipient })
	if i < 0 {
		wrong := &WrongKeyError{Sealed: recipient, Origin: l.origin}
		for _, id := range all {
			wrong.AtHand = append(wrong.AtHand, id.Recipient().String())
		}
		return nil, wrong
	}
	return all[i], nil
}

func (l *localKeys) load(create bool) ([]*age.X25519Identity, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.identities == nil {
		identities, err := readKeyFile(l.file, create)
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
}

func (e *WrongKeyError) Error() string {
	const lost = "or, when it is lost, give the secrets again by raising their *_wo_version"
	if len(e.AtHand) == 0 {
		return fmt.Sprintf("sealed for the recipient %s, but %s does not exist: restore it, or name the file that has the key with encryption.key_file, %s", e.Sealed, e.Origin, lost)
	}
	return fmt.Sprintf("sealed for the recipient %s, but %s has the key of %s: put the identity of %s (AGE-SECRET-KEY-1...) on a line after the first one there, %s",
		e.Sealed, e.Origin, strings.Join(e.AtHand, " and "), e.Sealed, lost)
}
