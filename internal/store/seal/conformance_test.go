package seal_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/storetest"
)

// lease is how long leases live in the suite of stores, which waits for their end.
const lease = 3 * time.Second

// openSealed opens a store with a key file beside it.
func openSealed(ctx context.Context, path string) (store.Store, error) {
	s, err := sqlite.OpenBriefly(ctx, path, lease)
	if err != nil {
		return nil, err
	}
	keys, err := seal.New(seal.Source{KeyFile: filepath.Join(filepath.Dir(path), "key.txt")})
	if err != nil {
		return nil, err
	}
	return seal.NewStore(s, keys), nil
}

func blobFile(path, digest string) string {
	sum := strings.TrimPrefix(digest, "sha256:")
	return filepath.Join(filepath.Dir(path), "blobs", "sha256", sum[:2], sum)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		New:  func(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "store.db") },
		Open: openSealed,
		Damage: func(t *testing.T, path, digest string) {
			t.Helper()
			name := blobFile(path, digest)
			content, err := os.ReadFile(name)
			require.NoError(t, err)
			content[len(content)/2] ^= 1
			require.NoError(t, os.WriteFile(name, content, 0o600))
		},
		Lease: lease,
		// One by one; ten thousand at once are tried in the store that is below.
		Records: 300,
	})
}
