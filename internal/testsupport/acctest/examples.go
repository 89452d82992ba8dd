package acctest

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ForgetRuns removes from a copy of examples what somebody has made with them in the work tree: a test would go on with that state.
func ForgetRuns(t testing.TB, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	require.NoError(t, fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case name == ".terraform":
			if err := root.RemoveAll(path); err != nil {
				return err
			}
			return fs.SkipDir
		case name == ".terraform.lock.hcl", strings.Contains(name, ".tfstate"), strings.HasSuffix(name, ".tfvars"):
			return root.Remove(path)
		}
		return nil
	}))
}
