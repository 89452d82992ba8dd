package seal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Store is a store that keeps contents sealed in another one, under the digests of
// their plain text, and everything else as that one does. It knows the key of the
// contents, which other values that belong to the store are sealed with as well.
type Store struct {
	store.Store
	encoded store.EncodedBlobs
	keys    *Keyring

	mu       sync.Mutex
	contents *contentKeys
}

// NewStore returns a store over s, which must implement store.EncodedBlobs; contents of
// others are errors. Closing it closes s.
func NewStore(s store.Store, k *Keyring) *Store {
	encoded, ok := s.(store.EncodedBlobs)
	if !ok {
		encoded = plainOnly{}
	}
	return &Store{Store: s, encoded: encoded, keys: k}
}

// ReadAhead is that of the store below.
func (s *Store) ReadAhead(ctx context.Context, wanted ...store.Wanted) {
	store.ReadAhead(ctx, s.Store, wanted...)
}

// IsFar is that of the store below.
func (s *Store) IsFar() bool { return store.IsFar(s.Store) }

// KeepsContents is that of the store below.
func (s *Store) KeepsContents(ctx context.Context, since time.Time) bool {
	return store.KeepsContents(ctx, s.Store, since)
}

// KeyWanted is what the first use of the key of the contents reads.
func KeyWanted() store.Wanted { return store.Wanted{Kind: store.KindKey, ID: contentsID} }

// DigestKey returns 32 bytes for keyed digests of secrets. They are the same in every
// process that has the keys, also after a vault has taken them over or rotated them, and
// tell nothing about them. A missing key is made.
func (s *Store) DigestKey(ctx context.Context) ([]byte, error) {
	contents, err := s.contentKeys(ctx, true)
	if err != nil {
		return nil, err
	}
	if contents != nil {
		return contents.digestKey, nil
	}
	id, err := s.keys.local.sealing(ctx)
	if err != nil {
		return nil, err
	}
	return digestKey(id)
}

// Seal encrypts values for their owner with the key of the contents. A missing key is
// made.
func (s *Store) Seal(ctx context.Context, owner string, plain map[string]string) ([]byte, error) {
	return s.SealFor(ctx, owner, nil, plain)
}

// SealFor is Seal with the destination of the values, without which they cannot be opened.
func (s *Store) SealFor(ctx context.Context, owner string, to Destination, plain map[string]string) ([]byte, error) {
	id, err := s.sealing(ctx)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	sealed, err := seal(owner, key{identity: id}, plain, to)
	if err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s: %w", owner, err)
	}
	return sealed, nil
}

// Open decrypts what Seal, here or of a Keyring, made for the same owner.
func (s *Store) Open(ctx context.Context, owner string, sealed []byte) (map[string]string, error) {
	return s.OpenFor(ctx, owner, nil, sealed)
}

// OpenFor decrypts what SealFor, here or of a Keyring, made for the same owner and
// destination. It returns an *EditedError when it was another destination.
func (s *Store) OpenFor(ctx context.Context, owner string, to Destination, sealed []byte) (map[string]string, error) {
	plain, err := s.keys.OpenFor(ctx, owner, to, sealed)
	if _, wrong := errors.AsType[*WrongKeyError](err); !wrong {
		return plain, err
	}
	v, err := parseValue(sealed)
	if err != nil {
		return nil, err
	}
	id, err := s.opening(ctx, v.Recipient)
	if err == nil {
		plain, err = v.open(owner, to, id)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the sealed secrets of %s: %w", owner, err)
	}
	return plain, nil
}

// OpenRecord decrypts the sealed values of a record, which a Keyring has sealed for their
// owner, and for the destination that it has now. An error of destination is returned as it
// is, before anything is opened. Those that are not sealed with the key that seals at
// present are sealed with it again, and the keys that they had in
// a vault are removed: that is how keys are rotated and moved. Whatever interrupts it, the
// record names a key that is there, and the next one who opens it goes on.
func (s *Store) OpenRecord(ctx context.Context, rec *store.Record, owner string, destination func(rec *store.Record) (Destination, error)) (map[string]string, error) {
	plain, err := s.openRecord(ctx, rec, sealedFor{owner: owner, destination: destination}, s.OpenFor)
	if _, lost := errors.AsType[*LostKeyError](err); lost {
		return nil, fmt.Errorf("%w, or, when it is lost, "+storedAgain, err)
	}
	return plain, err
}

// IsProven reports whether sealed values, once they open, can have been made only by who has a
// key of the configuration. The error is that of reading the keys.
func (s *Store) IsProven(ctx context.Context, sealed []byte) (bool, error) {
	return s.keys.proves(ctx, sealed)
}

// sealedFor is what the values of a record are sealed for.
type sealedFor struct {
	owner string
	// destination reads it from the record, which it may refuse; nil when it has none.
	destination func(rec *store.Record) (Destination, error)
}

func (f sealedFor) to(rec *store.Record) (Destination, error) {
	if f.destination == nil {
		return nil, nil
	}
	return f.destination(rec)
}

type openFunc func(ctx context.Context, owner string, to Destination, sealed []byte) (map[string]string, error)

func (s *Store) openRecord(ctx context.Context, rec *store.Record, of sealedFor, openFor openFunc) (map[string]string, error) {
	open := func() (map[string]string, error) {
		to, err := of.to(rec)
		if err != nil {
			return nil, err
		}
		return openFor(ctx, of.owner, to, rec.Sealed)
	}
	plain, err := open()
	if _, lost := errors.AsType[*LostKeyError](err); lost {
		// Another process may have rotated the key since the record was read.
		now, readErr := s.Get(ctx, rec.Kind, rec.ID)
		if readErr != nil || bytes.Equal(now.Sealed, rec.Sealed) {
			return nil, err
		}
		*rec = *now
		plain, err = open()
	}
	if err != nil {
		return nil, err
	}
	if err := store.Spared(s.renew(ctx, rec, of, plain)); err != nil {
		return nil, fmt.Errorf("sealing the secrets of %s again: %w; they are unchanged", of.owner, err)
	}
	return plain, nil
}

// renew seals the values of a record again, if need be. Somebody else who writes the
// record at the same time does the same, or leaves it to the next one.
func (s *Store) renew(ctx context.Context, rec *store.Record, of sealedFor, plain map[string]string) error {
	v, err := parseValue(rec.Sealed)
	if err != nil {
		return err
	}
	if s.keys.isCurrent(ctx, rec.Sealed) {
		return nil
	}
	if !s.keys.present(ctx, v) {
		to, err := of.to(rec)
		if err != nil {
			return err
		}
		sealed, err := s.keys.SealFor(ctx, of.owner, to, rec.Sealed, plain)
		if err != nil {
			return err
		}
		if written, err := s.replace(ctx, rec, sealed); err != nil || !written {
			return err
		}
		if v, err = parseValue(sealed); err != nil {
			return err
		}
	}
	if len(v.Former) == 0 || s.keys.vault == nil {
		return nil
	}
	if err := s.keys.vault.remove(ctx, v.Former); err != nil {
		return err
	}
	v.Former = nil
	sealed, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.replace(ctx, rec, sealed)
	return err
}

// replace writes a record with other sealed values, unless it has changed or is gone.
func (s *Store) replace(ctx context.Context, rec *store.Record, sealed []byte) (written bool, err error) {
	next := *rec
	next.Sealed = sealed
	err = s.Update(ctx, &next)
	if errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	*rec = next
	return true, nil
}

// sealing returns the identity that seals contents.
func (s *Store) sealing(ctx context.Context) (*age.X25519Identity, error) {
	contents, err := s.contentKeys(ctx, true)
	if err != nil {
		return nil, err
	}
	if contents != nil {
		return contents.identities[0], nil
	}
	return s.keys.local.sealing(ctx)
}

// opening returns the identity of a recipient, or a *WrongKeyError. A vault is asked for
// nothing that a key at hand opens.
func (s *Store) opening(ctx context.Context, recipient string) (*age.X25519Identity, error) {
	id, wrong := s.keys.local.opening(ctx, recipient)
	if wrong == nil {
		return id, nil
	}
	contents, err := s.contentKeys(ctx, false)
	if err != nil {
		return nil, err
	}
	if contents != nil {
		for _, id := range contents.identities {
			if id.Recipient().String() == recipient {
				return id, nil
			}
		}
	}
	return nil, wrong
}
