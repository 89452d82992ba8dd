package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

const (
	version   = 1
	schemeAge = "age"
	// dataKeySize makes it AES-256-GCM.
	dataKeySize = 32
)

// sealedValue is the form of a sealed value. Data is encrypted with a random data
// key that is used for nothing else; only Key, the wrapped data key, depends on the
// scheme.
type sealedValue struct {
	Version int    `json:"v"`
	Scheme  string `json:"scheme"`
	// Recipient names the key that unwraps Key: for the scheme "age" a recipient
	// (age1...).
	Recipient string `json:"recipient"`
	Key       []byte `json:"key"`
	// Data is nonce, cipher text and tag.
	Data []byte `json:"data"`
}

// Seal encrypts the values for their owner: the id of the object that they belong
// to, without which they cannot be opened. A missing key file is made.
func (k *Keyring) Seal(owner string, plain map[string]string) ([]byte, error) {
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	dataKey := make([]byte, dataKeySize)
	rand.Read(dataKey) //nolint:errcheck,gosec // crypto/rand.Read never returns an error.
	v := sealedValue{Version: version, Scheme: schemeAge}
	if v.Recipient, v.Key, err = k.wrap(dataKey); err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	aead, err := newAEAD(dataKey)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	v.Data = aead.Seal(nil, nil, text, associatedData(owner)) //nolint:gosec // this AEAD makes a random nonce itself and wants none
	sealed, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	return sealed, nil
}

// Open decrypts what Seal made for the same owner. It returns a *WrongKeyError when
// no key of the ring fits.
func (k *Keyring) Open(owner string, sealed []byte) (map[string]string, error) {
	plain, err := k.open(owner, sealed)
	if err != nil {
		return nil, fmt.Errorf("opening the sealed secrets of %s: %w", owner, err)
	}
	return plain, nil
}

func (k *Keyring) open(owner string, sealed []byte) (map[string]string, error) {
	var v sealedValue
	if err := json.Unmarshal(sealed, &v); err != nil {
		return nil, fmt.Errorf("not a sealed value: %w", err)
	}
	if err := checkForm(v.Version, v.Scheme); err != nil {
		return nil, err
	}
	dataKey, err := k.unwrap(v.Recipient, v.Key)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(dataKey)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, v.Data, associatedData(owner))
	if err != nil {
		return nil, errors.New("changed since it was sealed, or sealed for another owner: give the secrets again by raising their *_wo_version")
	}
	var plain map[string]string
	if err := json.Unmarshal(text, &plain); err != nil {
		// The error of json is left out: it can quote the secret.
		return nil, errors.New("the decrypted value is not a map of strings")
	}
	return plain, nil
}

// wrap encrypts a data key for the key that seals and names that key.
func (k *Keyring) wrap(dataKey []byte) (recipient string, wrapped []byte, err error) {
	id, err := k.sealing()
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, id.Recipient())
	if err != nil {
		return "", nil, fmt.Errorf("wrapping the data key: %w", err)
	}
	if _, err := w.Write(dataKey); err != nil {
		return "", nil, fmt.Errorf("wrapping the data key: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", nil, fmt.Errorf("wrapping the data key: %w", err)
	}
	return id.Recipient().String(), out.Bytes(), nil
}

// unwrap is the inverse of wrap.
func (k *Keyring) unwrap(recipient string, wrapped []byte) ([]byte, error) {
	id, err := k.opening(recipient)
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(wrapped), id)
	if err != nil {
		return nil, fmt.Errorf("unwrapping the data key: %w", err)
	}
	dataKey, err := io.ReadAll(io.LimitReader(r, dataKeySize+1))
	if err != nil {
		return nil, fmt.Errorf("unwrapping the data key: %w", err)
	}
	if len(dataKey) != dataKeySize {
		return nil, fmt.Errorf("unwrapping the data key: it has %d bytes, not %d", len(dataKey), dataKeySize)
	}
	return dataKey, nil
}

func checkForm(v int, scheme string) error {
	if v != version || scheme != schemeAge {
		return fmt.Errorf("sealed in version %d of the scheme %q, this release opens version %d of %q: use the release of the provider that sealed it", v, scheme, version, schemeAge)
	}
	return nil
}

func newAEAD(dataKey []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(dataKey)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// associatedData binds a value to its owner and its form, so that it opens in no
// other record. It says nothing of scheme and recipient: a data key can be wrapped
// anew.
func associatedData(owner string) []byte {
	return []byte("terraform-provider-vnf/v1 sealed value of " + owner)
}
