package acctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ForgetRuns removes from a copy of examples what somebody has made with them in the work tree: a test would go on with that state.
func ForgetRuns(t testing.TB, root string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case name == ".terraform":
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			return fs.SkipDir
		case name == ".terraform.lock.hcl", strings.Contains(name, ".tfstate"), strings.HasSuffix(name, ".tfvars"):
			return os.Remove(path)
		}
		return nil
	}))
}
