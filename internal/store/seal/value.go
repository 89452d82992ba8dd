package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The schemes say where the key is that unwraps: at hand, or in a vault.
const (
	schemeAge      = "age"
	schemeBarbican = "barbican"
)

const (
	// version is the version of sealed values and contents. It is authenticated with what it
	// is the version of, so that none can be passed off as another.
	version = 1
	// dataKeySize makes it AES-256-GCM.
	dataKeySize = 32
)

// sealedValue is the form of a sealed value. Data is encrypted with a key that follows from
// the identity and from a random data key that is used for nothing else: only a holder of the
// identity can make a value. Key, the wrapped data key, depends on the scheme.
type sealedValue struct {
	Version int    `json:"v"`
	Scheme  string `json:"scheme"`
	// Recipient (age1...) names the identity that unwraps Key.
	Recipient string `json:"recipient"`
	// VaultID is the id under which a vault has the identity, Rotation the text that
	// was configured when it was made.
	VaultID  string `json:"vault_id,omitempty"`
	Rotation string `json:"rotation,omitempty"`
	// Former are secrets of the vault that this value took the place of and that are
	// still to be removed.
	Former []string `json:"former,omitempty"`
	Key    []byte   `json:"key"`
	// Data is nonce, cipher text and tag.
	Data []byte `json:"data"`
}

// boundText is the plain text of a sealed value.
type boundText struct {
	Values map[string]string `json:"values"`
	For    Destination       `json:"for,omitempty"`
}

// seal encrypts the values for their owner and their destination with a key: without both,
// they cannot be opened. The owner is the id of the object that they belong to.
func seal(owner string, with key, plain map[string]string, to Destination) ([]byte, error) {
	v := sealedValue{Version: version, Scheme: with.scheme(), Recipient: with.recipient(), VaultID: with.secret, Rotation: with.rotation, Former: with.former}
	text, err := json.Marshal(boundText{Values: plain, For: to})
	if err != nil {
		return nil, err
	}
	dataKey := make([]byte, dataKeySize)
	rand.Read(dataKey) //nolint:errcheck,gosec // crypto/rand.Read never returns an error.
	if v.Key, err = wrap(dataKey, with.identity); err != nil {
		return nil, err
	}
	aead, err := newAEAD(dataKey, with.identity)
	if err != nil {
		return nil, err
	}
	v.Data = aead.Seal(nil, nil, text, associatedData(owner)) //nolint:gosec // this AEAD makes a random nonce itself and wants none
	return json.Marshal(v)
}

// open decrypts a value of the owner with the identity that it was sealed for. It returns
// an *EditedError when the value was sealed for another destination.
func (v *sealedValue) open(owner string, to Destination, id *age.X25519Identity) (map[string]string, error) {
	text, err := v.decrypt(owner, id)
	if err != nil {
		return nil, err
	}
	var bound boundText
	if err := json.Unmarshal(text, &bound); err != nil {
		// The error of json is left out: it can quote the secret.
		return nil, errors.New("the decrypted value is not a map of strings with its destination")
	}
	if other := bound.For.differs(to); len(other) > 0 {
		return nil, &EditedError{Fields: other}
	}
	return bound.Values, nil
}

// storedAgain is the way on when something sealed will never open again.
const storedAgain = "apply again: secrets are then taken from the configuration, and packages from their sources"

// errChanged says that a sealed value is not as it was written, whichever of its bytes has changed.
var errChanged error = changedError{}

type changedError struct{}

func (changedError) Error() string {
	return "changed since it was sealed, or sealed for another owner: " + storedAgain
}

// Is makes errors.Is(err, vnfm.ErrUnopened) true.
func (changedError) Is(target error) bool { return target == vnfm.ErrUnopened }

// decrypt returns what a value of the owner encrypts, which is as it was sealed.
func (v *sealedValue) decrypt(owner string, id *age.X25519Identity) ([]byte, error) {
	dataKey, err := unwrap(v.Key, id)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(dataKey, id)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, v.Data, associatedData(owner))
	if err != nil {
		return nil, errChanged
	}
	return text, nil
}

// parseValue reads the form of a sealed value.
func parseValue(sealed []byte) (*sealedValue, error) {
	var v sealedValue
	if len(sealed) == 0 {
		return nil, errors.New("not a sealed value: it is empty, because the run that seals it was interrupted; apply again")
	}
	if err := json.Unmarshal(sealed, &v); err != nil {
		return nil, errChanged
	}
	if err := checkForm(v.Version, v.Scheme, schemeAge, schemeBarbican); err != nil {
		return nil, err
	}
	return &v, nil
}

// newAEAD returns the cipher of the data of a value, given the data key and the identity for
// which that is wrapped.
func newAEAD(dataKey []byte, id *age.X25519Identity) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, dataKey, []byte(id.String()), "terraform-provider-vnf/v1 key of a sealed value", dataKeySize)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of a sealed value: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// wrap encrypts a data key for an identity.
func wrap(dataKey []byte, id *age.X25519Identity) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, id.Recipient())
	if err != nil {
		return nil, fmt.Errorf("wrapping the data key: %w", err)
	}
	if _, err := w.Write(dataKey); err != nil {
		return nil, fmt.Errorf("wrapping the data key: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("wrapping the data key: %w", err)
	}
	return out.Bytes(), nil
}

// unwrap is the inverse of wrap. Its error is errChanged.
func unwrap(wrapped []byte, id *age.X25519Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(wrapped), id)
	if err != nil {
		return nil, errChanged
	}
	dataKey, err := io.ReadAll(io.LimitReader(r, dataKeySize+1))
	if err != nil || len(dataKey) != dataKeySize {
		return nil, errChanged
	}
	return dataKey, nil
}

// checkForm refuses a form that this release does not open.
func checkForm(v int, scheme string, opened ...string) error {
	if v != version || !slices.Contains(opened, scheme) {
		return fmt.Errorf("sealed in version %d of the scheme %q, this release opens version %d of %s: use the release of the provider that sealed it", v, scheme, version, strings.Join(opened, " and "))
	}
	return nil
}

// associatedData binds a value to its owner and its form, so that it opens in no
// other record, and in no other version. It says nothing of scheme and recipient.
func associatedData(owner string) []byte {
	return fmt.Appendf(nil, "terraform-provider-vnf/v%d sealed value of %s", version, owner)
}
