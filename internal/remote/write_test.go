package remote

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWriteScriptCounts is input that was cut short without anybody else noticing.
func TestWriteScriptCounts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", writeScript, "sh", filepath.Join(folder, "file"), "10", "600", "", "", "")
	cmd.Stdin = strings.NewReader("123456789")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, "not all of it has arrived\n", string(out))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
