package seal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/durable"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// KeyPlace keeps a key as text, in the form of a key file, where all processes that use a store
// find it.
type KeyPlace interface {
	// String names the key in errors.
	String() string
	// Load returns the key, nil when there is none.
	Load(ctx context.Context) ([]byte, error)
	// Create keeps a key where there is none and returns the one that is kept: that of another
	// process which came first stays.
	Create(ctx context.Context, text []byte) ([]byte, error)
}

// keyID is the id of the record with the key of a store.
const keyID = "store"

// storePlace keeps the key of a store in a record of that store.
type storePlace struct {
	open func(ctx context.Context) (store.Store, error)
}

// KeyIn returns the place for a key inside the store itself. Who can read the store can then
// open everything in it. The store is opened at the first use of the key.
func KeyIn(open func(ctx context.Context) (store.Store, error)) KeyPlace {
	return storePlace{open: open}
}

// String implements KeyPlace.
func (storePlace) String() string { return "the key that the store itself keeps" }

// KeyFile is the place of a key in a file, such as the one beside a local store.
type KeyFile string

// String implements KeyPlace.
func (f KeyFile) String() string { return "the key file " + string(f) }

// Load implements KeyPlace.
func (f KeyFile) Load(context.Context) ([]byte, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Create implements KeyPlace.
func (f KeyFile) Create(ctx context.Context, text []byte) ([]byte, error) {
	if err := durable.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(string(f), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return f.Load(ctx)
	}
	if err != nil {
		return nil, err
	}
	_, err = file.Write(text)
	return text, errors.Join(err, file.Sync(), file.Close())
}

// IsKeyOfStore reports whether a record is the key of the store that it is in.
func IsKeyOfStore(r *store.Record) bool { return r.Kind == store.KindKey && r.ID == keyID }

// keyRecord is what is not secret of the record. The key is its sealed part, which a store
// shows to nobody.
type keyRecord struct {
	Recipient string `json:"recipient"`
}

// Load implements KeyPlace.
func (p storePlace) Load(ctx context.Context) ([]byte, error) {
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	return loadKey(ctx, s)
}

func loadKey(ctx context.Context, s store.Store) ([]byte, error) {
	rec, err := s.Get(ctx, store.KindKey, keyID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return rec.Sealed, nil
}

// Create implements KeyPlace.
func (p storePlace) Create(ctx context.Context, text []byte) ([]byte, error) {
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	identities, err := parseIdentities(string(text))
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(keyRecord{Recipient: identities[0].Recipient().String()})
	if err != nil {
		return nil, err
	}
	err = s.Create(ctx, &store.Record{Kind: store.KindKey, ID: keyID, Data: data, Sealed: text})
	if errors.Is(err, store.ErrExists) {
		return loadKey(ctx, s)
	}
	return text, err
}

// keysFromPlace are the identities of a place, of which one is made when something is sealed
// and there is none.
func keysFromPlace(place KeyPlace) *localKeys {
	origin := place.String()
	return &localKeys{origin: origin, inStore: true, read: func(ctx context.Context, create bool) ([]*age.X25519Identity, error) {
		text, err := place.Load(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", origin, err)
		}
		if text == nil && create {
			if text, err = newKey(ctx, place); err != nil {
				return nil, fmt.Errorf("making %s: %w", origin, err)
			}
		}
		if text == nil {
			return nil, errNoKey
		}
		identities, err := parseIdentities(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", origin, err)
		}
		return identities, nil
	}}
}

func newKey(ctx context.Context, place KeyPlace) ([]byte, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return place.Create(ctx, []byte(keyText(id)))
}
