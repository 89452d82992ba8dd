// Package seal keeps secrets unreadable in the store: it encrypts small values and
// whole contents with data keys of their own, which an age identity wraps. Who
// reads the store without the identity learns owners and sizes, nothing else.
package seal

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"filippo.io/age"
)

// EnvKey is the environment variable that gives the key as text.
const EnvKey = "VNF_ENCRYPTION_KEY"

// Source says where the key is. KeyFile and Key exclude each other; without both it
// is the environment variable EnvKey, and without that DefaultKeyFile.
type Source struct {
	// KeyFile is a file in the format of age-keygen, readable by its owner only.
	KeyFile string
	// Key is the same as text.
	Key string
	// DefaultKeyFile is the file that is used when nothing else is said.
	DefaultKeyFile string
}

// Keyring holds one or more identities (AGE-SECRET-KEY-1..., one per line). The
// first seals, all of them open: a new key is put before the old ones. It is safe
// for concurrent use.
type Keyring struct {
	// origin says where the identities come from, for errors.
	origin string
	// file is empty when the identities came as text.
	file string

	mu         sync.Mutex
	identities []*age.X25519Identity
}

// New returns the keyring of a source. A key given as text is checked here; a file
// is read at the first use, and made at the first sealing if there is none.
func New(src Source) (*Keyring, error) {
	switch {
	case src.KeyFile != "" && src.Key != "":
		return nil, errors.New("the encryption key is given twice: set either the provider argument encryption.key_file or encryption.key")
	case src.KeyFile != "":
		return &Keyring{origin: "the key file " + src.KeyFile, file: src.KeyFile}, nil
	case src.Key != "":
		return fromText("the provider argument encryption.key", src.Key)
	}
	if text := os.Getenv(EnvKey); text != "" {
		return fromText("the environment variable "+EnvKey, text)
	}
	if src.DefaultKeyFile == "" {
		return nil, fmt.Errorf("no encryption key: set the provider argument encryption.key_file or encryption.key, or the environment variable %s", EnvKey)
	}
	return &Keyring{origin: "the key file " + src.DefaultKeyFile, file: src.DefaultKeyFile}, nil
}

func fromText(origin, text string) (*Keyring, error) {
	identities, err := parseIdentities(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	return &Keyring{origin: origin, identities: identities}, nil
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
			return nil, fmt.Errorf("line %d is no age identity (AGE-SECRET-KEY-1...): make one with age-keygen", number)
		}
		identities = append(identities, id)
	}
	if len(identities) == 0 {
		return nil, errors.New("there is no age identity (AGE-SECRET-KEY-1...) in it: make one with age-keygen")
	}
	return identities, nil
}

// DigestKey returns 32 bytes for keyed digests of secrets. They depend on the first
// identity only, are the same in every process that has it, and tell nothing about
// it. A missing key file is made.
func (k *Keyring) DigestKey() ([]byte, error) {
	id, err := k.sealing()
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, []byte(id.String()), nil, "terraform-provider-vnf/v1 digest of secrets", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the digest key: %w", err)
	}
	return key, nil
}

// sealing returns the identity that seals; a missing key file is made.
func (k *Keyring) sealing() (*age.X25519Identity, error) {
	all, err := k.load(true)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// opening returns the identity of a recipient, or a *WrongKeyError.
func (k *Keyring) opening(recipient string) (*age.X25519Identity, error) {
	all, err := k.load(false)
	if errors.Is(err, errNoKeyFile) {
		return nil, &WrongKeyError{Sealed: recipient, Origin: k.origin}
	}
	if err != nil {
		return nil, fmt.Errorf("sealed for the recipient %s: %w", recipient, err)
	}
	i := slices.IndexFunc(all, func(id *age.X25519Identity) bool { return id.Recipient().String() == recipient })
	if i < 0 {
		wrong := &WrongKeyError{Sealed: recipient, Origin: k.origin}
		for _, id := range all {
			wrong.AtHand = append(wrong.AtHand, id.Recipient().String())
		}
		return nil, wrong
	}
	return all[i], nil
}

func (k *Keyring) load(create bool) ([]*age.X25519Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.identities == nil {
		identities, err := readKeyFile(k.file, create)
		if err != nil {
			return nil, err
		}
		k.identities = identities
	}
	return k.identities, nil
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
		return fmt.Sprintf("sealed for the recipient %s, but %s does not exist: restore it, %s", e.Sealed, e.Origin, lost)
	}
	return fmt.Sprintf("sealed for the recipient %s, but %s has the key of %s: put the identity of %s (AGE-SECRET-KEY-1...) on a line after the first one there, %s",
		e.Sealed, e.Origin, strings.Join(e.AtHand, " and "), e.Sealed, lost)
}
