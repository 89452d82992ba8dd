package tempfile

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestCreate uses a file that a kill cannot leave behind.
func TestCreate(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	f, remove, err := Create(".zip")
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(f.Name(), ".zip"))
	if runtime.GOOS != "windows" {
		require.Empty(t, names(t, folder), "while it is open")
	}
	_, err = io.WriteString(f, "content")
	require.NoError(t, err)
	text := make([]byte, 4)
	_, err = f.ReadAt(text, 3)
	require.NoError(t, err)
	require.Equal(t, "tent", string(text))
	require.NoError(t, f.Close())
	remove()
	require.Empty(t, names(t, folder))
}

// TestSweep removes what processes have left long ago, and nothing else.
func TestSweep(t *testing.T) {
	folder := t.TempDir()
	long := time.Now().Add(-2 * abandonedAge)
	for _, name := range []string{prefix + "old.zip", prefix + "new.zip", "old.zip"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, prefix+"folder"), 0o700))
	for _, name := range []string{prefix + "old.zip", "old.zip", prefix + "folder"} {
		require.NoError(t, os.Chtimes(filepath.Join(folder, name), long, long))
	}
	sweep(folder, time.Now().Add(-abandonedAge))
	require.Equal(t, []string{"old.zip", prefix + "folder", prefix + "new.zip"}, names(t, folder))
}
