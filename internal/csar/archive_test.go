package csar

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArchivesAreFileSystems(t *testing.T) {
	files := goodPackage().with(texts{"a/b/c/d.txt": "", "a/b/e": "x", "empty": "x"})
	directory := t.TempDir()
	files.write(t, directory)
	fromDirectory, err := OpenDirectory(directory, Limits{})
	require.NoError(t, err)
	fromZip, err := openBytes(zipBytes(t, files.archive()), Limits{})
	require.NoError(t, err)
	for name, a := range map[string]Archive{"memory": files.archive(), "directory": fromDirectory, "zip": fromZip} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, fstest.TestFS(a, "vnfd.mf", "a/b/e", "Files/kubernetes/service.yaml"))
			assert.Equal(t, files.archive().Files(), a.Files(), "files (-memory +this)")
			got, want := ContentDigest(a), ContentDigest(files.archive())
			assert.Equal(t, want, got, "digest")
			require.NoError(t, a.Close())
		})
	}
}

func TestContentDigestTellsContentsApart(t *testing.T) {
	base := texts{"a": "x", "b": "y"}
	seen := map[string]string{}
	for name, files := range map[string]texts{
		"base": base, "changed": base.with(texts{"a": "z"}), "swapped": {"a": "y", "b": "x"}, "renamed": {"a": "x", "c": "y"}, "more": base.with(texts{"c": "x"}), "moved": {"a": "x", "d/b": "y"}, "none": {},
	} {
		digest := ContentDigest(files.archive())
		require.True(t, strings.HasPrefix(digest, "sha256:"), "%s", name)
		assert.Len(t, digest, 71, "%s", name)
		other, ok := seen[digest]
		assert.False(t, ok, "%s and %s have one digest", name, other)
		seen[digest] = name
	}
}

func TestOpenDirectoryRefuses(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("x"), 0o600))
	link := func(target, name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
		}
	}
	const regular = ": a package holds regular files only; replace the entry by its content"
	tests := []struct {
		name    string
		files   texts
		prepare func(*testing.T, string)
		limits  Limits
		want    []string
	}{
		{name: "links out and in", files: texts{"a": "x"}, prepare: func(t *testing.T, dir string) {
			link(outside, "l1")(t, dir)
			link("a", "l2")(t, dir)
			link("/", "l3")(t, dir)
		}, want: []string{"error: l1: the entry is a symbolic link" + regular, "error: l2: the entry is a symbolic link" + regular, "error: l3: the entry is a symbolic link" + regular}},
		{name: "socket", prepare: func(t *testing.T, dir string) {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
			if err != nil {
				t.Skipf("no sockets here: %v", err)
			}
			t.Cleanup(func() {
				require.NoError(t, l.Close())
			})
		}, want: []string{"error: s: the entry is not a regular file" + regular}},
		{name: "names that no zip could hold", files: texts{`a\b`: "x", "B": "x", "b": "x"}, want: []string{
			`error: a\b: the name holds a backslash; names in a package are separated by slashes: the package is rejected, because tools would not agree on which file this is`,
			`error: b: the name differs only by case from "B": the package is rejected, because tools would not agree on which file this is`,
		}},
		{name: "number of files", files: texts{"a": "x", "b": "x"}, limits: Limits{MaxFiles: 1}, want: []string{"error: the package holds more than 1 files"}},
		{name: "size of a file", files: texts{"a": "xxx"}, limits: Limits{MaxFileBytes: 2}, want: []string{"error: a: the content is larger than 2 bytes, or 34359738368 bytes with the files before it: the package is rejected; check that it is the package that you expect"}},
		{name: "size of all", files: texts{"a": "xx", "b": "xx"}, limits: Limits{MaxTotalBytes: 3}, want: []string{"error: b: the content is larger than 17179869184 bytes, or 3 bytes with the files before it: the package is rejected; check that it is the package that you expect"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.files.write(t, dir)
			if tt.prepare != nil {
				tt.prepare(t, dir)
			}
			_, err := OpenDirectory(dir, tt.limits)
			assert.Equal(t, tt.want, renderError(t, err), "problems")
		})
	}
}

func TestOpenDirectoryLeavesGitOut(t *testing.T) {
	dir := t.TempDir()
	texts{"a": "x", ".git/config": "x", ".git/HEAD": "x", "b/.git/x": "x", ".gitignore": "x"}.write(t, dir)
	a, err := OpenDirectory(dir, Limits{})
	require.NoError(t, err)
	var names []string
	for _, f := range a.Files() {
		names = append(names, f.Path)
	}
	assert.Equal(t, []string{".gitignore", "a", "b/.git/x"}, names)
}

// TestChangedContent proves that what is read is what was digested.
func TestChangedContent(t *testing.T) {
	for name, text := range map[string]string{"same length": "y", "shorter": "", "longer": "xx"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			texts{"a": "x"}.write(t, dir)
			a, err := OpenDirectory(dir, Limits{})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o600))
			_, err = a.ReadFile("a")
			require.EqualError(t, err, `reading "a": the content changed since the package was opened`)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	_, _, _, err := Open(filepath.Join(t.TempDir(), "nothing"), Options{}, Limits{})
	require.ErrorContains(t, err, "nothing", "missing path")
	_, err = OpenDirectory(filepath.Join(t.TempDir(), "nothing"), Limits{})
	require.Error(t, err, "missing directory: no error")
	_, err = FromFiles(nil).Open("../x")
	require.Error(t, err, "invalid path: no error")
	_, err = FromFiles(nil).ReadFile("x")
	require.ErrorContains(t, err, fs.ErrNotExist.Error(), "missing file")
}
