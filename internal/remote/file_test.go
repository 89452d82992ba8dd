//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	folder := t.TempDir()
	path := filepath.Join(folder, "it's a file")
	random := make([]byte, 200_000)
	_, _ = rand.Read(random)
	for _, step := range []struct {
		name    string
		file    remote.File
		changed bool
	}{
		{"new", remote.File{Content: []byte("a\x00b\n\n")}, true},
		{"the same", remote.File{Content: []byte("a\x00b\n\n")}, false},
		{"content", remote.File{Content: random}, true},
		{"the same large one", remote.File{Content: random}, false},
		{"mode", remote.File{Content: random, Mode: 0o644}, true},
		{"the same mode", remote.File{Content: random, Mode: 0o644}, false},
		{"owner", remote.File{Content: random, Mode: 0o644, Owner: "nobody:nogroup"}, true},
		{"the same owner", remote.File{Content: random, Mode: 0o644, Owner: "nobody:nogroup"}, false},
		{"the same owner by number", remote.File{Content: random, Mode: 0o644, Owner: "65534:65534"}, false},
		{"empty", remote.File{}, true},
		{"the same empty one", remote.File{}, false},
	} {
		step.file.Path = path
		changed, err := c.WriteFile(t.Context(), step.file)
		require.NoError(t, err, step.name)
		assert.Equal(t, step.changed, changed, step.name)
		content, err := c.ReadFile(t.Context(), path, false)
		require.NoError(t, err, step.name)
		assert.True(t, bytes.Equal(step.file.Content, content), step.name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		want := step.file.Mode
		if want == 0 {
			want = 0o600
		}
		assert.Equal(t, want, info.Mode().Perm(), step.name)
		stat, ok := info.Sys().(*syscall.Stat_t)
		require.True(t, ok)
		assert.Equal(t, step.file.Owner != "", stat.Uid == 65534, step.name)
	}
	requireOnly(t, folder, "it's a file")
}

// requireOnly looks for what was left behind.
func requireOnly(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	require.ElementsMatch(t, names, got)
}

func TestWriteFileRefuses(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	folder := t.TempDir()
	for name, test := range map[string]struct {
		file remote.File
		want string
	}{
		"no folder": {remote.File{Path: folder + "/a/b"}, "the folder " + folder + "/a/ does not exist"},
		"a folder":  {remote.File{Path: folder}, folder + " is a folder"},
		"no path":   {remote.File{}, `"" is not the path of a file`},
		"no owner":  {remote.File{Path: folder + "/x", Owner: "no-such-user"}, "invalid user"},
		"read-only": {remote.File{Path: "/proc/x"}, "writing /proc/x on " + c.Name()},
	} {
		_, err := c.WriteFile(t.Context(), test.file)
		require.ErrorContains(t, err, test.want, name)
	}
	requireOnly(t, folder)

	_, err := c.WriteFile(t.Context(), remote.File{Path: folder + "/a/b/c", Content: []byte("x"), MkdirAll: true})
	require.NoError(t, err)
	info, err := os.Stat(folder + "/a/b")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode().Perm())

	require.NoError(t, os.Symlink(folder+"/a/b/c", folder+"/link"))
	changed, err := c.WriteFile(t.Context(), remote.File{Path: folder + "/link", Content: []byte("x")})
	require.NoError(t, err)
	assert.True(t, changed)
	target, err := os.Lstat(folder + "/link")
	require.NoError(t, err)
	assert.True(t, target.Mode().IsRegular(), "a link is replaced, not followed")
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	_, err := c.ReadFile(t.Context(), "/no/such/file", true)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "reading /no/such/file on "+c.Name())
	_, err = c.ReadFile(t.Context(), "/tmp", true)
	require.ErrorContains(t, err, "/tmp is a folder")
	_, err = c.ReadFile(t.Context(), "/dev/zero", true)
	require.ErrorContains(t, err, "it has more than 16 MiB")
}

// halting is content that comes up to a point, where it waits or ends.
type halting struct {
	left int
	then func() error
}

func (h *halting) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, h.then()
	}
	n := min(len(p), h.left)
	h.left -= n
	return n, nil
}

func TestUpload(t *testing.T) {
	t.Parallel()
	server := sshtest.New(t, sshtest.Options{})
	c := connect(t, server.Host())
	folder := t.TempDir()
	path := filepath.Join(folder, "image")
	content := make([]byte, 8<<20)
	_, _ = rand.Read(content)
	require.NoError(t, c.Upload(t.Context(), path, int64(len(content)), bytes.NewReader(content), 0o640, true))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(content, got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm())

	// While a file comes, nobody else can read it, and the old one is there.
	unbroken := func() {
		t.Helper()
		assert.Eventually(t, func() bool {
			entries, err := os.ReadDir(folder)
			return err == nil && len(entries) == 1 && entries[0].Name() == "image"
		}, 10*time.Second, 20*time.Millisecond, "nothing is left behind")
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, now))
	}
	err = c.Upload(t.Context(), path, 2_000_000, &halting{left: 1_000_000, then: func() error {
		<-time.After(300 * time.Millisecond)
		entries, _ := filepath.Glob(folder + "/.image.*")
		if assert.Len(t, entries, 1) {
			if info, err := os.Stat(entries[0]); assert.NoError(t, err) {
				assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
			}
		}
		return io.EOF
	}}, 0o644, false)
	require.ErrorContains(t, err, "it is 1000000 bytes shorter than it should be")
	unbroken()

	err = c.Upload(t.Context(), path, 2_000_000, &halting{left: 1_000_000, then: func() error { return errors.New("disk error") }}, 0o644, false)
	require.ErrorContains(t, err, "writing "+path+" on "+c.Name()+": reading what is sent: disk error")
	unbroken()

	ctx, cancel := context.WithCancel(t.Context())
	err = c.Upload(ctx, path, 2_000_000, &halting{left: 1_000_000, then: func() error { cancel(); <-time.After(time.Second); return io.EOF }}, 0o644, false)
	require.ErrorIs(t, err, context.Canceled)
	unbroken()

	err = c.Upload(t.Context(), path, 2_000_000, &halting{left: 1_000_000, then: func() error { server.Cut(); <-time.After(time.Second); return io.EOF }}, 0o644, false)
	var broken *remote.ConnectionError
	require.ErrorAs(t, err, &broken)
	unbroken()
}
