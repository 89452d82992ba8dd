//go:build unix

package e2e_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// firstUser is the first of the users of runners, of whom the system need not know.
const firstUser = 61000

// users counts the runners that have a user of their own.
var users atomic.Uint32

// newUser returns the user of a runner whom no other one of this process has, or 0 where this process may not run programs as others.
func newUser() uint32 {
	if os.Geteuid() != 0 {
		return 0
	}
	return firstUser + users.Add(1)
}

// next returns a runner that follows another one: a directory, a HOME, a TMPDIR and, where the other one has one, a user of its own, and
// nothing of the other one but the files that a pipeline hands over and the variables that it gives to each run.
func (m *module) next(files ...string) *module {
	m.Helper()
	n := newModule(m.TB, m.tools)
	n.isolation, n.secret, n.variables = m.isolation, m.secret, m.variables
	if m.user != 0 {
		n.user = newUser()
	}
	n.take(m.dir, append([]string{"main.tf", "terraform.tfstate"}, files...)...)
	return n
}

// take copies files of another directory.
func (m *module) take(from string, files ...string) {
	m.Helper()
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(from, name))
		if name == "terraform.tfstate" && errors.Is(err, fs.ErrNotExist) {
			continue // A run that was killed may not have written one.
		}
		require.NoError(m, err)
		require.NoError(m, os.WriteFile(filepath.Join(m.dir, name), data, 0o600))
	}
}

// credential is the user of the runner, to whom it gives its directories; nil without one.
func (m *module) credential() *syscall.Credential {
	m.Helper()
	if m.user == 0 {
		return nil
	}
	reachable(m.TB, m.dir)
	for _, dir := range []string{m.dir, m.home, m.tmp} {
		require.NoError(m, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, int(m.user), int(m.user)))
		}))
	}
	return &syscall.Credential{Uid: m.user, Gid: m.user}
}

// reachable opens the temporary directory of a test, which holds these paths, for other users, who find nothing there by listing it.
func reachable(t testing.TB, paths ...string) {
	t.Helper()
	for _, path := range paths {
		require.True(t, strings.HasPrefix(path, os.TempDir()), "%s is no temporary file", path)
		for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			require.NoError(t, err)
			if info.Mode().Perm()&0o001 == 0 {
				require.NoError(t, os.Chmod(dir, info.Mode().Perm()|0o111))
			}
		}
	}
}

// readable has other users read temporary files, and directories with all that is in them.
func readable(t testing.TB, paths ...string) {
	t.Helper()
	reachable(t, paths...)
	for _, path := range paths {
		require.NoError(t, filepath.WalkDir(path, func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			more := fs.FileMode(0o044)
			if info.IsDir() {
				more = 0o055
			}
			return os.Chmod(path, info.Mode().Perm()|more)
		}))
	}
}

// shared returns the same programs, with the provider where any user reaches it.
func (b tools) shared(t *testing.T) tools {
	t.Helper()
	dir := t.TempDir()
	b.place(t, filepath.Join(dir, "terraform-provider-vnf"))
	b.cliConfig = filepath.Join(dir, "terraform.rc")
	require.NoError(t, b.configure(dir))
	readable(t, dir)
	return b
}

// expectNoTrace checks that the runs of a runner left nothing in these directories, and in its own nothing but what terraform writes.
func (m *module) expectNoTrace(dirs ...string) {
	m.Helper()
	for _, dir := range append(dirs, m.dir) {
		entries, err := os.ReadDir(dir)
		require.NoError(m, err)
		for _, e := range entries {
			// OpenTofu makes its configuration folder, and leaves it empty.
			if left, err := os.ReadDir(filepath.Join(dir, e.Name())); e.Name() == ".terraform.d" && err == nil && len(left) == 0 {
				continue
			}
			if dir != m.dir || !slices.Contains([]string{"main.tf", "plan", "terraform.tfstate", "terraform.tfstate.backup"}, e.Name()) {
				m.Errorf("a run left %s", filepath.Join(dir, e.Name()))
			}
		}
	}
}
