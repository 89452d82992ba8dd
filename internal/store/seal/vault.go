package seal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Vault keeps texts that are secret, each under an id that the vault gives and a name
// that several may have. Its errors say which vault it is and where.
type Vault interface {
	// String says which vault it is and where.
	String() string
	// Find returns the ids of the secrets of a name, the oldest first.
	Find(ctx context.Context, name string) ([]string, error)
	// Read returns a secret; found is false when there is none.
	Read(ctx context.Context, id string) (text vnfm.Secret, found bool, err error)
	// Create makes a secret and returns its id.
	Create(ctx context.Context, name string, text vnfm.Secret) (string, error)
	// Delete removes a secret. A missing one is success.
	Delete(ctx context.Context, id string) error
}

// vaultName is the name of all secrets of an owner. It is how a process finds what one
// that was killed has made.
func vaultName(owner string) string { return "terraform-provider-vnf/" + owner }

// vaultKeys are the keys in a vault: an identity for each owner, and while it is being
// replaced the former one. Each is read once.
type vaultKeys struct {
	in       Vault
	rotation string

	mu   sync.Mutex
	read map[string]*vaultKey
}

// vaultKey is an identity that is read when it is first needed.
type vaultKey struct {
	mu       sync.Mutex
	identity *age.X25519Identity
	rotation string
}

func newVaultKeys(in Vault, rotation string) *vaultKeys {
	return &vaultKeys{in: in, rotation: rotation, read: map[string]*vaultKey{}}
}

// LostKeyError says that a vault does not have a key any more.
type LostKeyError struct {
	Vault, Secret string
}

func (e *LostKeyError) Error() string {
	return fmt.Sprintf("its key is gone: %s has no secret %s; check that it is the Barbican and the project in which it was made", e.Vault, e.Secret)
}

// Is makes errors.Is(err, vnfm.ErrUnopened) true.
func (e *LostKeyError) Is(target error) bool { return target == vnfm.ErrUnopened }

// InDoubtError says that a key was being made in a vault when something failed: it may
// be there. The next sealing for the same owner finds it.
type InDoubtError struct {
	Err error
}

func (e *InDoubtError) Error() string { return e.Err.Error() }

func (e *InDoubtError) Unwrap() error { return e.Err }

// errNoIdentity says that a secret is not one that was made here.
var errNoIdentity = errors.New("it holds no age identity")

// get reads a key, once.
func (v *vaultKeys) get(ctx context.Context, id string) (*vaultKey, error) {
	v.mu.Lock()
	k := v.read[id]
	if k == nil {
		k = &vaultKey{}
		v.read[id] = k
	}
	v.mu.Unlock()

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.identity != nil {
		return k, nil
	}
	text, found, err := v.in.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &LostKeyError{Vault: v.in.String(), Secret: id}
	}
	identity, rotation, err := parseVaultKey(text.Reveal())
	if err != nil {
		return nil, fmt.Errorf("secret %s of %s: %w", id, v.in, err)
	}
	k.identity, k.rotation = identity, rotation
	return k, nil
}

// opening returns the identity that a secret holds.
func (v *vaultKeys) opening(ctx context.Context, id, recipient string) (*age.X25519Identity, error) {
	k, err := v.get(ctx, id)
	if err != nil {
		return nil, err
	}
	if got := k.identity.Recipient().String(); got != recipient {
		return nil, fmt.Errorf("secret %s of %s is the key of %s and not of %s, for which it was sealed", id, v.in, got, recipient)
	}
	return k.identity, nil
}

// fits reports whether a key of a rotation is the present one. Without a trigger any key is: removing the argument rotates
// nothing.
func (v *vaultKeys) fits(rotation string) bool { return v.rotation == "" || v.rotation == rotation }

// sealing returns the key of an owner that fits the rotation: the one that the value
// before was sealed with, or one that a process made which was killed before it could
// use it, or a new one.
func (v *vaultKeys) sealing(ctx context.Context, owner string, before *sealedValue) (key, error) {
	if before.Scheme == schemeBarbican && v.fits(before.Rotation) {
		k, err := v.get(ctx, before.VaultID)
		_, lost := errors.AsType[*LostKeyError](err)
		switch {
		case err == nil:
			return key{identity: k.identity, secret: before.VaultID, rotation: before.Rotation, former: before.Former}, nil
		case !lost:
			return key{}, err
		}
	}
	name := vaultName(owner)
	ids, err := v.in.Find(ctx, name)
	if err != nil {
		return key{}, err
	}
	for _, id := range ids {
		// Another process may be about to remove a former one.
		if slices.Contains(before.Former, id) {
			continue
		}
		k, err := v.get(ctx, id)
		if _, lost := errors.AsType[*LostKeyError](err); lost || errors.Is(err, errNoIdentity) {
			continue
		}
		if err != nil {
			return key{}, err
		}
		if v.fits(k.rotation) {
			return key{identity: k.identity, secret: id, rotation: k.rotation, former: without(ids, id)}, nil
		}
	}
	return v.create(ctx, name, ids)
}

// create makes a key instead of former ones.
func (v *vaultKeys) create(ctx context.Context, name string, former []string) (key, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return key{}, err
	}
	id, err := v.in.Create(ctx, name, vnfm.Secret(vaultText(identity, v.rotation)))
	if err != nil {
		return key{}, &InDoubtError{Err: err}
	}
	v.mu.Lock()
	v.read[id] = &vaultKey{identity: identity, rotation: v.rotation}
	v.mu.Unlock()
	return key{identity: identity, secret: id, rotation: v.rotation, former: former}, nil
}

func (v *vaultKeys) remove(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := v.in.Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func without(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(each string) bool { return each == id })
}

const rotationLine = "# rotation: "

// vaultText is what a secret holds: a key file with the rotation that it was made for.
func vaultText(id *age.X25519Identity, rotation string) string {
	return fmt.Sprintf("%s%s\n%s\n", rotationLine, strconv.QuoteToASCII(rotation), id)
}

func parseVaultKey(text string) (*age.X25519Identity, string, error) {
	identities, err := parseIdentities(text)
	if err != nil || len(identities) != 1 {
		return nil, "", errNoIdentity
	}
	first, _, _ := strings.Cut(text, "\n")
	quoted, ok := strings.CutPrefix(first, rotationLine)
	rotation, err := strconv.Unquote(strings.TrimSpace(quoted))
	if !ok || err != nil {
		return nil, "", errNoIdentity
	}
	return identities[0], rotation, nil
}
