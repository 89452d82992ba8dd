package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

// TestCheckPlace tells before the first write where a database cannot be, and leaves no trace.
func TestCheckPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.Mkdir(closed, 0o500)) //nolint:gosec // a directory needs its x bits
	cases := map[string]string{
		filepath.Join(dir, "a", "b", "store.db"): "",
		filepath.Join(dir, "store.db"):           "",
		file:                                     "",
		filepath.Join(file, "a", "store.db"):     "not a directory; this user must be able to write the directory " + filepath.Join(file, "a"),
		dir:                                      "is not a file but a directory",
	}
	if os.Getuid() != 0 {
		cases[filepath.Join(closed, "a", "store.db")] = "permission denied; this user must be able to write the directory " + filepath.Join(closed, "a")
	}
	for path, want := range cases {
		err := sqlite.CheckPlace(t.Context(), path)
		if want == "" {
			require.NoError(t, err, path)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}
