package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/storetest"
)

// quick has leases that tests can wait for.
func quick() timing {
	return timing{lease: 3 * time.Second, renew: time.Second, busy: 30 * time.Second}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		New:    func(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "store.db") },
		Open:   func(ctx context.Context, path string) (store.Store, error) { return open(ctx, path, quick()) },
		Damage: damage,
		Lease:  quick().lease,
	})
}

// damage flips a bit in the middle of a content's file.
func damage(t *testing.T, path, digest string) {
	t.Helper()
	sum := strings.TrimPrefix(digest, "sha256:")
	name := filepath.Join(filepath.Dir(path), "blobs", "sha256", sum[:2], sum)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	content[len(content)/2] ^= 1
	require.NoError(t, os.WriteFile(name, content, 0o600))
}
