package seal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"filippo.io/age"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// ErrInVault is returned for what was sealed with a key that is in a vault which is not
// configured.
var ErrInVault = errors.New("sealed with a key that is in Barbican")

func (v *sealedValue) inVault() error {
	return fmt.Errorf("%w, as secret %s: set encryption.barbican of the provider, with decrypt_only = true to migrate away from Barbican", ErrInVault, v.VaultID)
}

// Verify checks that a key at hand opens the sealed values of a record, and that they are as
// they were sealed. Where their destination is now is not looked at. It writes nothing to the
// record.
func (s *Store) Verify(ctx context.Context, rec *store.Record) error {
	if len(rec.Sealed) == 0 {
		return nil
	}
	if IsKeyOfStore(rec) {
		_, err := parseIdentities(string(rec.Sealed))
		return err
	}
	v, err := parseValue(rec.Sealed)
	if err != nil {
		return err
	}
	owner := rec.ID
	if rec.Kind == store.KindKey {
		var data contentsRecord
		if err := json.Unmarshal(rec.Data, &data); err != nil {
			return fmt.Errorf("its owner cannot be read: %w", err)
		}
		owner = data.Owner
	}
	id, err := s.identity(ctx, v)
	if err != nil {
		return err
	}
	_, err = v.decrypt(owner, id)
	return err
}

// identity returns what opens a value.
func (s *Store) identity(ctx context.Context, v *sealedValue) (*age.X25519Identity, error) {
	switch {
	case v.Scheme == schemeAge:
		return s.opening(ctx, v.Recipient)
	case s.keys.vault == nil:
		return nil, v.inVault()
	default:
		return s.keys.vault.opening(ctx, v.VaultID, v.Recipient)
	}
}
