package seal

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

// inPlace is what a process has that opens the store at a path, whose key is in it.
func inPlace(t *testing.T, path string) (*Store, *Keyring) {
	t.Helper()
	inner, err := sqlite.Open(t.Context(), path, "test")
	require.NoError(t, err)
	t.Cleanup(func() { _ = inner.Close() })
	k, err := New(Source{DefaultPlace: KeyIn(func(context.Context) (store.Store, error) { return inner, nil })})
	require.NoError(t, err)
	return NewStore(inner, k), k
}

// TestKeyInTheStoreAtOnce has many processes make the key of one store: all get the same.
func TestKeyInTheStoreAtOnce(t *testing.T) {
	t.Setenv(EnvKey, "")
	path := filepath.Join(t.TempDir(), "store.db")
	const processes = 8
	sealed := make([][]byte, processes)
	keyrings := make([]*Keyring, processes)
	for i := range processes {
		_, keyrings[i] = inPlace(t, path)
	}
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() { sealed[i] = sealFor(t, keyrings[i], "vim-1", place) })
	}
	wg.Wait()
	_, later := inPlace(t, path)
	for i := range processes {
		for _, k := range []*Keyring{keyrings[0], later} {
			if plain, err := k.OpenFor(t.Context(), "vim-1", place, sealed[i]); err != nil || plain["token"] != planted {
				t.Errorf("process %d: %v", i, err)
			}
		}
	}
}

// TestKeyInTheStore opens what was sealed with its own key, says whose key is missing otherwise,
// and makes no key to open something.
func TestKeyInTheStore(t *testing.T) {
	t.Setenv(EnvKey, "")
	path := filepath.Join(t.TempDir(), "store.db")
	other := newIdentity(t)
	foreign := sealFor(t, ring(t, other), "vim-1", place)
	s, k := inPlace(t, path)
	_, err := k.OpenFor(t.Context(), "vim-1", place, foreign)
	wantError(t, err, "sealed for the recipient "+other.Recipient().String(), "no key is configured, and the key that the store itself keeps does not exist", "encryption.key_file", EnvKey)
	_, err = s.Get(t.Context(), store.KindKey, keyID)
	require.ErrorIs(t, err, store.ErrNotFound, "a key was made to open something")
	own := sealFor(t, k, "vim-1", place)
	rec, err := s.Get(t.Context(), store.KindKey, keyID)
	require.NoError(t, err)
	require.NotContains(t, string(rec.Data), "SECRET", "the clear part of the record")
	require.Contains(t, string(rec.Data), `"recipient":"age1`, "the clear part of the record")
	v, err := parseValue(own)
	require.NoError(t, err)
	_, err = k.OpenFor(t.Context(), "vim-1", place, foreign)
	wantError(t, err, "the key that the store itself keeps is that of "+v.Recipient, "give the identity of "+other.Recipient().String())
	// A key that is configured is the only one that opens then: who can write the store can
	// write its record of a key.
	_, err = ring(t, other).OpenFor(t.Context(), "vim-1", place, own)
	wantError(t, err, "sealed for the recipient "+v.Recipient, other.Recipient().String())

	rec.Sealed = []byte("AGE-SECRET-KEY-1WRONG")
	require.NoError(t, s.Update(t.Context(), rec))
	_, damaged := inPlace(t, path)
	_, err = damaged.OpenFor(t.Context(), "vim-1", place, own)
	wantError(t, err, "the key that the store itself keeps: line 1 is not an age identity")
	require.NotContains(t, err.Error(), "WRONG", "the error quotes the key")
}
