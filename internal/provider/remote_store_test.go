package provider

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

// TestRemoteStoreKeepsItsKey: without a configured key, runs on two machines open what the other
// has sealed, and nothing is beside the store. Each run opens the store once.
func TestRemoteStoreKeepsItsKey(t *testing.T) {
	t.Setenv(seal.EnvKey, "")
	dir := t.TempDir()
	database := filepath.Join(dir, "store.db")
	run := func() (*seal.Keyring, storeOpener) {
		var s settings
		opened := 0
		open := s.openRemote(func(ctx context.Context) (store.Store, error) {
			opened++
			return sqlite.Open(ctx, database, "test")
		})
		keyring, err := seal.New(s.key)
		require.NoError(t, err)
		t.Cleanup(func() { assert.LessOrEqual(t, opened, 1) })
		return keyring, open
	}
	first, open := run()
	sealed, err := first.Seal(t.Context(), "vim-1", nil, map[string]string{"token": "planted"})
	require.NoError(t, err)
	second, _ := run()
	plain, err := second.Open(t.Context(), "vim-1", sealed)
	require.NoError(t, err)
	assert.Equal(t, "planted", plain["token"])
	s, err := open(t.Context())
	require.NoError(t, err)
	rec, err := s.Get(t.Context(), store.KindKey, "store")
	require.NoError(t, err)
	assert.NotEmpty(t, rec.Sealed)
	_, err = os.Stat(filepath.Join(dir, keyFileName))
	require.ErrorIs(t, err, os.ErrNotExist)
}
