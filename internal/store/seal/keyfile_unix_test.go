//go:build unix

package seal

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKeyFileThatIsNone refuses files of other types: a pipe is not waited for,
// and the mode of a directory is not to be changed.
func TestKeyFileThatIsNone(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "a named pipe", t.TempDir(): "a directory", "/dev/null": "a device"} {
		_, err := readKeyFile(path, true)
		if err == nil || !strings.Contains(err.Error(), path+" is not a file but "+want) || !strings.Contains(err.Error(), "encryption.key_file") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
