package stores

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
)

// flip changes a bit in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

func TestCheck(t *testing.T) {
	without(t)
	path := newStore(t)
	run(t, "store", "check", path).want(t, 0, "5 records, 3 contents, 0 damaged")
	before, sums := content(t, openLocalStore(t, path))

	// The same without the key.
	key := filepath.Join(filepath.Dir(path), "key.txt")
	away := filepath.Join(t.TempDir(), "key.txt")
	require.NoError(t, os.Rename(key, away))
	run(t, "store", "check", path).want(t, 0, "0 damaged", "not opened: there is no key", "--key-file")
	run(t, "store", "check", path, "--key-file", away).want(t, 0, "0 damaged")
	text, err := os.ReadFile(away)
	require.NoError(t, err)
	t.Run("key of the environment", func(t *testing.T) {
		t.Setenv(seal.EnvKey, string(text))
		run(t, "store", "check", path).want(t, 0, "5 records, 3 contents, 0 damaged")
	})
	other := filepath.Join(filepath.Dir(newStore(t)), "key.txt")
	run(t, "store", "check", path, "--key-file", other).want(t, cli.ExitFailure, "5 records, 3 contents, 8 damaged", "sealed for the recipient")

	// Each damage is named.
	s := openLocalStore(t, path)
	for id, change := range map[string]func(r *store.Record){
		"vim-1": func(r *store.Record) { r.Data = []byte(`{"id":`) },
		"vim-2": func(r *store.Record) {
			r.Sealed = []byte(strings.Replace(string(r.Sealed), `"data":"`, `"data":"AAAA`, 1))
		},
		"vim-3": func(r *store.Record) { r.Sealed = []byte("x") },
	} {
		r, err := s.Get(t.Context(), store.KindVIM, id)
		require.NoError(t, err)
		change(r)
		require.NoError(t, s.Update(t.Context(), r))
	}
	var digest string
	for digest = range sums {
		break
	}
	sum := strings.TrimPrefix(digest, "sha256:")
	flip(t, filepath.Join(filepath.Dir(path), "blobs", "sha256", sum[:2], sum))
	run(t, "store", "check", path, "--key-file", away).want(t, cli.ExitFailure, `damaged: vim "vim-1": its data is not JSON`, `damaged: vim "vim-2"`, `damaged: vim "vim-3"`,
		"damaged: content "+digest, "4 damaged", "restore a backup")

	// Whatever it found, it has changed nothing.
	after, err := s.Get(t.Context(), store.KindVIM, "vim-4")
	require.NoError(t, err, "after the check")
	require.Equal(t, before[4].Revision, after.Revision, "after the check")
}
