package seal

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Contents are sealed with identities that are themselves in the store, in a record that
// the vault's key of the store seals: contents can be many and large, and to read one
// must not cost a request. So a rotation seals that one record again and leaves the
// contents alone. While a key file seals there is no such record, unless a vault has
// sealed before, and its identities seal the contents themselves.

// contentsID is the id of the record.
const contentsID = "contents"

// The values that are sealed in the record.
const (
	sealedIdentities = "identities"
	sealedDigestKey  = "digest_key"
)

// contentKeys are the keys of the contents. The first identity seals, all of them open.
type contentKeys struct {
	identities []*age.X25519Identity
	digestKey  []byte
}

// contentsRecord is what is not secret of the record.
type contentsRecord struct {
	// Owner is what the identities are sealed for: the id of this store.
	Owner string `json:"owner"`
}

// contentKeys returns the keys that are in the store, nil when the local ones are used
// themselves. With create, what a vault needs is made.
func (s *Store) contentKeys(ctx context.Context, create bool) (*contentKeys, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.contents != nil {
		return s.contents, nil
	}
	rec, err := s.Get(ctx, store.KindKey, contentsID)
	if errors.Is(err, store.ErrNotFound) {
		if !create || !s.keys.vaultSeals {
			return nil, nil
		}
		rec, err = s.newContentsRecord(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of the contents of the store: %w", err)
	}
	if len(rec.Sealed) == 0 && !create {
		return nil, nil
	}
	contents, err := s.readContentKeys(ctx, rec)
	if err != nil {
		return nil, err
	}
	s.contents = contents
	return contents, nil
}

// newContentsRecord names the store, before a key with its name is made in the vault: a
// process that is killed in between leaves a key that the next one finds.
func (s *Store) newContentsRecord(ctx context.Context) (*store.Record, error) {
	data, err := json.Marshal(contentsRecord{Owner: uuid.NewString()})
	if err != nil {
		return nil, err
	}
	rec := &store.Record{Kind: store.KindKey, ID: contentsID, Data: data}
	if err := s.Create(ctx, rec); errors.Is(err, store.ErrExists) {
		return s.Get(ctx, store.KindKey, contentsID)
	} else if err != nil {
		return nil, err
	}
	return rec, nil
}

// readContentKeys opens the record, or fills it when it is new.
func (s *Store) readContentKeys(ctx context.Context, rec *store.Record) (*contentKeys, error) {
	const doing = "opening the key of the contents of the store"
	var data contentsRecord
	if err := json.Unmarshal(rec.Data, &data); err != nil || data.Owner == "" {
		return nil, fmt.Errorf("%s: its record cannot be read", doing)
	}
	plain, err := s.openContents(ctx, rec, data.Owner)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	identities, err := parseIdentities(plain[sealedIdentities])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	key, err := base64.StdEncoding.DecodeString(plain[sealedDigestKey])
	if err != nil {
		return nil, fmt.Errorf("%s: the digest key in it cannot be read", doing)
	}
	return &contentKeys{identities: identities, digestKey: key}, nil
}

// openContents opens the record. One that has nothing yet is filled; so is one whose key
// is lost, once the user has asked for another key.
func (s *Store) openContents(ctx context.Context, rec *store.Record, owner string) (map[string]string, error) {
	if len(rec.Sealed) == 0 {
		return s.fillContents(ctx, rec, owner)
	}
	plain, err := s.openRecord(ctx, rec, sealedFor{owner: owner}, s.keys.OpenFor)
	if _, lost := errors.AsType[*LostKeyError](err); !lost {
		return plain, err
	}
	if v, _ := parseValue(rec.Sealed); s.keys.vaultSeals && v != nil && !s.keys.present(ctx, v) {
		return s.fillContents(ctx, rec, owner)
	}
	return nil, fmt.Errorf("%w, or, when it is lost, change encryption.barbican.rotation_trigger: packages are then stored again from their sources", err)
}

// fillContents makes new identities. Those of a key file that is given open what it has
// sealed until now, and digests stay as they are.
func (s *Store) fillContents(ctx context.Context, rec *store.Record, owner string) (map[string]string, error) {
	fresh, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	local, err := s.keys.local.load(ctx, false)
	if err != nil && !errors.Is(err, errNoKey) {
		return nil, err
	}
	all := append([]*age.X25519Identity{fresh}, local...)
	digests := fresh
	if len(local) > 0 {
		digests = local[0]
	}
	key, err := digestKey(digests)
	if err != nil {
		return nil, err
	}
	lines := make([]string, 0, len(all))
	for _, id := range all {
		lines = append(lines, id.String())
	}
	plain := map[string]string{sealedIdentities: strings.Join(lines, "\n"), sealedDigestKey: base64.StdEncoding.EncodeToString(key)}
	sealed, err := s.keys.Seal(ctx, owner, rec.Sealed, plain)
	if err != nil {
		return nil, fmt.Errorf("making it: %w", err)
	}
	written, err := s.replace(ctx, rec, sealed)
	if err != nil || written {
		return plain, err
	}
	// Another process was faster: its identities are those of the store.
	now, err := s.Get(ctx, rec.Kind, rec.ID)
	if err != nil {
		return nil, err
	}
	*rec = *now
	return s.openRecord(ctx, rec, sealedFor{owner: owner}, s.keys.OpenFor)
}
