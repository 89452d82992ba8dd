//go:build unix

package seal

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeyFileThatIsNone refuses files of other types: a pipe is not waited for,
// and the mode of a directory is not to be changed.
func TestKeyFileThatIsNone(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for path, want := range map[string]string{pipe: "a named pipe", t.TempDir(): "a directory", "/dev/null": "a device"} {
		_, err := readKeyFile(path, true)
		require.ErrorContains(t, err, path+" is not a file but "+want)
		require.ErrorContains(t, err, "encryption.key_file")
	}
}
