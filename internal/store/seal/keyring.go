// Package seal keeps secrets unreadable in the store: it encrypts small values and
// whole contents with data keys of their own, which age identities wrap. The
// identities are in a key file, in the store itself or, one for each VIM, in a vault. Who
// reads the store without them learns owners and sizes, nothing else.
package seal

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"filippo.io/age"
)

// EnvKey is the environment variable that gives the key as text.
const EnvKey = "VNF_ENCRYPTION_KEY"

// Source says where the keys are. KeyFile and Key exclude each other; without both it
// is the environment variable EnvKey, and without that DefaultKeyFile or DefaultPlace.
type Source struct {
	// KeyFile is a file in the format of age-keygen, readable by its owner only.
	KeyFile string
	// Key is the same as text.
	Key string
	// DefaultKeyFile is the file that is used when nothing else is said.
	DefaultKeyFile string
	// DefaultPlace is the same for a store that keeps its key itself.
	DefaultPlace KeyPlace
	// Vault, when set, seals instead of the keys above, which then only open
	// what they sealed before. No key file is made.
	Vault Vault
	// Rotation is any text: with another one, the vault gets other keys.
	Rotation string
	// VaultOpensOnly turns the places round: the vault opens what it sealed before.
	VaultOpensOnly bool
}

// Keyring is all keys that are configured, of which those of one place seal and all
// open. It is safe for concurrent use.
type Keyring struct {
	local *localKeys
	// vault is nil without one.
	vault      *vaultKeys
	vaultSeals bool
}

// New returns the keyring of a source. A key given as text is checked here; a file
// is read at the first use, and made at the first sealing if there is none. The vault
// is asked for a key when something is sealed or opened with it.
func New(src Source) (*Keyring, error) {
	local, err := localSource(src)
	if err != nil {
		return nil, err
	}
	k := &Keyring{local: local}
	if src.Vault != nil {
		k.vault = newVaultKeys(src.Vault, src.Rotation)
		k.vaultSeals = !src.VaultOpensOnly
	}
	return k, nil
}

// HasVault reports whether a vault keeps the keys of what is sealed.
func (k *Keyring) HasVault() bool { return k.vaultSeals }

func localSource(src Source) (*localKeys, error) {
	given, err := givenSource(src)
	if err != nil {
		return nil, err
	}
	switch {
	case given != nil:
		given.given = true
		return given, nil
	case src.DefaultKeyFile != "":
		return keysFromFile(src.DefaultKeyFile), nil
	case src.DefaultPlace != nil:
		return keysFromPlace(src.DefaultPlace), nil
	default:
		return nil, fmt.Errorf("no encryption key: set the provider argument encryption.key_file or encryption.key, or the environment variable %s", EnvKey)
	}
}

// givenSource are the keys that a user has given, nil for none.
func givenSource(src Source) (*localKeys, error) {
	switch {
	case src.KeyFile != "" && src.Key != "":
		return nil, errors.New("the encryption key is given twice: set either the provider argument encryption.key_file or encryption.key")
	case src.KeyFile != "":
		return keysFromFile(src.KeyFile), nil
	case src.Key != "":
		return keysFromText("the provider argument encryption.key", src.Key)
	}
	if text := os.Getenv(EnvKey); text != "" {
		return keysFromText("the environment variable "+EnvKey, text)
	}
	return nil, nil
}

// key is what seals: an identity and, when it is in a vault, where.
type key struct {
	identity         *age.X25519Identity
	secret, rotation string
	// former are the secrets of the owner that this one takes the place of.
	former []string
}

func (k key) scheme() string {
	if k.secret != "" {
		return schemeBarbican
	}
	return schemeAge
}

func (k key) recipient() string { return k.identity.Recipient().String() }

// Seal encrypts the values for their owner: the id of the object that they belong
// to, without which they cannot be opened. In a vault each owner has a key of its own;
// a key that is missing there, or a missing key file or key of the store, is made. The value before, nil
// for none, names the key that the owner has.
func (k *Keyring) Seal(ctx context.Context, owner string, before []byte, plain map[string]string) ([]byte, error) {
	return k.SealFor(ctx, owner, nil, before, plain)
}

// SealFor is Seal with the destination of the values, without which they cannot be opened.
func (k *Keyring) SealFor(ctx context.Context, owner string, to Destination, before []byte, plain map[string]string) ([]byte, error) {
	with, err := k.sealing(ctx, owner, before)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	sealed, err := seal(owner, with, plain, to)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	return sealed, nil
}

// Open decrypts what Seal made for the same owner. It returns a *WrongKeyError or a
// *LostKeyError when there is no key that fits.
func (k *Keyring) Open(ctx context.Context, owner string, sealed []byte) (map[string]string, error) {
	return k.OpenFor(ctx, owner, nil, sealed)
}

// OpenFor decrypts what SealFor made for the same owner and destination. It returns an
// *EditedError when it was another destination.
func (k *Keyring) OpenFor(ctx context.Context, owner string, to Destination, sealed []byte) (map[string]string, error) {
	plain, err := k.open(ctx, owner, to, sealed)
	if err != nil {
		return nil, fmt.Errorf("opening the sealed secrets of %s: %w", owner, err)
	}
	return plain, nil
}

func (k *Keyring) open(ctx context.Context, owner string, to Destination, sealed []byte) (map[string]string, error) {
	v, err := parseValue(sealed)
	if err != nil {
		return nil, err
	}
	var id *age.X25519Identity
	switch {
	case v.Scheme == schemeAge:
		id, err = k.local.opening(ctx, v.Recipient)
	case k.vault == nil:
		err = v.inVault()
	default:
		id, err = k.vault.opening(ctx, v.VaultID, v.Recipient)
	}
	if err != nil {
		return nil, err
	}
	return v.open(owner, to, id)
}

// Forget removes the keys that an owner has in the vault. None is success.
func (k *Keyring) Forget(ctx context.Context, owner string) error {
	if k.vault == nil {
		return nil
	}
	ids, err := k.vault.in.Find(ctx, vaultName(owner))
	if err != nil {
		return err
	}
	return k.vault.remove(ctx, ids)
}

// sealing returns the key that seals for an owner.
func (k *Keyring) sealing(ctx context.Context, owner string, before []byte) (key, error) {
	// An unreadable value is replaced, not continued.
	prior, err := parseValue(before)
	if err != nil {
		prior = &sealedValue{}
	}
	if k.vaultSeals {
		return k.vault.sealing(ctx, owner, prior)
	}
	id, err := k.local.sealing(ctx)
	if err != nil {
		return key{}, err
	}
	with := key{identity: id}
	if k.vault != nil && prior.Scheme == schemeBarbican {
		with.former, err = k.vault.in.Find(ctx, vaultName(owner))
	}
	return with, err
}

// isCurrent reports whether a value is sealed with the key that seals at present, and no
// other is left of its owner. A value that cannot be read is left as it is.
func (k *Keyring) isCurrent(ctx context.Context, sealed []byte) bool {
	v, err := parseValue(sealed)
	if err != nil || len(v.Former) > 0 {
		return err != nil || k.vault == nil
	}
	return k.present(ctx, v)
}

// present reports whether a value is sealed with the key that seals at present.
func (k *Keyring) present(ctx context.Context, v *sealedValue) bool {
	if k.vaultSeals {
		return v.Scheme == schemeBarbican && k.vault.fits(v.Rotation)
	}
	all, err := k.local.load(ctx, false)
	if err != nil {
		// A key that is not there yet has sealed nothing.
		return !errors.Is(err, errNoKey)
	}
	return v.Scheme == schemeAge && v.Recipient == all[0].Recipient().String()
}

// proves reports whether a value says that only who has a key of the configuration can have made
// it: opening it proves that. Keys that the store itself has prove nothing: those in the record
// of the contents, and a default key beside the vault that seals.
func (k *Keyring) proves(ctx context.Context, sealed []byte) (bool, error) {
	v, err := parseValue(sealed)
	switch {
	case err != nil:
		return false, nil //nolint:nilerr // what cannot be read proves nothing
	case v.Scheme == schemeBarbican:
		return true, nil
	case k.vaultSeals && !k.local.given:
		return false, nil
	default:
		return k.local.has(ctx, v.Recipient)
	}
}

// digestKey derives 32 bytes for keyed digests of secrets from an identity. They are the
// same in every process that has it, and tell nothing about it.
func digestKey(id *age.X25519Identity) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, []byte(id.String()), nil, "terraform-provider-vnf/v1 digest of secrets", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the digest key: %w", err)
	}
	return key, nil
}
