package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
)

const (
	plantedToken   = "planted-token-5f0c1d9e-in-a-record"
	plantedContent = "planted-password-77b1c2aa-in-a-package"
)

// TestPlantedSecretsAreNowhere greps every file below the store's directory, while
// the database is open (its log is there) and after it was closed.
func TestPlantedSecretsAreNowhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	plantAndSearch(t, filepath.Join(dir, "store.db"), seal.Source{DefaultKeyFile: filepath.Join(dir, "key.txt")}, "vim-1")
}

func plantAndSearch(t *testing.T, path string, src seal.Source, vim string) {
	t.Helper()
	dir := filepath.Dir(path)
	keys, err := seal.New(src)
	require.NoError(t, err)
	inner, err := sqlite.Open(t.Context(), path, "test")
	require.NoError(t, err)
	s := seal.NewStore(inner, keys)
	r := store.Record{Kind: store.KindVIM, ID: vim, Data: []byte("readable data of the record")}
	if r.Sealed, err = keys.Seal(t.Context(), r.ID, nil, map[string]string{"token": plantedToken}); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, s.Create(t.Context(), &r))
	content := "apiVersion: v1\nkind: Secret\ndata: " + plantedContent + strings.Repeat("\n# padding", 10_000)
	require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte(content)), strings.NewReader(content)))
	require.Error(t, s.PutBlob(t.Context(), store.Digest([]byte("other")), strings.NewReader(content)), "PutBlob took another content")
	require.NotEqual(t, 0, grep(t, dir, "readable data of the record"), "the search does not find what is there")
	wantNowhere(t, dir)
	require.NoError(t, s.Close())
	wantNowhere(t, dir)

	// They are there, though.
	inner, err = sqlite.Open(t.Context(), path, "test")
	require.NoError(t, err)
	defer inner.Close() //nolint:errcheck // The test is over.
	stored, err := inner.Get(t.Context(), store.KindVIM, vim)
	require.NoError(t, err)
	if plain, err := keys.Open(t.Context(), vim, stored.Sealed); err != nil || plain["token"] != plantedToken {
		t.Errorf("sealed token: %v", err)
	}
	blob, err := seal.NewStore(inner, keys).OpenBlob(t.Context(), store.Digest([]byte(content)))
	require.NoError(t, err)
	defer blob.Close() //nolint:errcheck // The test is over.
	if plain, err := io.ReadAll(blob); err != nil || string(plain) != content {
		t.Errorf("sealed content: %d bytes, %v", len(plain), err)
	}
}

func wantNowhere(t *testing.T, dir string) {
	t.Helper()
	for _, secret := range []string{plantedToken, plantedContent} {
		// A piece from the middle, for base64 at each of its three offsets.
		for _, form := range []string{
			secret, hex.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(secret))[4:20],
			base64.StdEncoding.EncodeToString([]byte("x" + secret))[4:20],
			base64.StdEncoding.EncodeToString([]byte("xx" + secret))[4:20],
		} {
			require.Equal(t, 0, grep(t, dir, form), "files hold")
		}
	}
}

// grep counts the files below a directory that hold a text.
func grep(t *testing.T, dir, text string) int {
	t.Helper()
	found, looked := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		looked++
		if bytes.Contains(content, []byte(text)) {
			found++
		}
		return nil
	})
	require.NoError(t, err, "looked into")
	require.GreaterOrEqual(t, looked, 2, "looked into")
	return found
}

// TestContentOfLostKey puts a content again that was sealed with a key that is gone.
func TestContentOfLostKey(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // The test is over.
	sealed := make([]store.Store, 2)
	for i := range sealed {
		id, err := age.GenerateX25519Identity()
		require.NoError(t, err)
		keys, err := seal.New(seal.Source{Key: id.String()})
		require.NoError(t, err)
		sealed[i] = seal.NewStore(s, keys)
	}
	digest := store.Digest([]byte("content"))
	require.NoError(t, sealed[0].PutBlob(t.Context(), digest, strings.NewReader("content")))
	_, err = sealed[1].OpenBlob(t.Context(), digest)
	if _, ok := errors.AsType[*seal.WrongKeyError](err); !ok || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("OpenBlob with another key = %v, want a WrongKeyError", err)
	}
	require.NoError(t, sealed[1].PutBlob(t.Context(), digest, strings.NewReader("content")))
	r, err := sealed[1].OpenBlob(t.Context(), digest)
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // The test is over.
	if got, err := io.ReadAll(r); err != nil || string(got) != "content" {
		t.Errorf("content = %q, %v", got, err)
	}
}

// TestMixedUpContents puts one sealed content in place of another: it is genuine,
// but it is not what its name says.
func TestMixedUpContents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := openSealed(t.Context(), path)
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // The test is over.
	one, two := store.Digest([]byte("one")), store.Digest([]byte("two"))
	for _, content := range []string{"one", "two"} {
		require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte(content)), strings.NewReader(content)))
	}
	require.NoError(t, os.Rename(blobFile(path, two), blobFile(path, one)))
	r, err := s.OpenBlob(t.Context(), one)
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // The test is over.
	if got, err := io.ReadAll(r); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("content = %q, %v, want ErrCorrupt", got, err)
	}
}

type plainStore struct{ store.Store }

func TestStoreWithoutEncodedBlobs(t *testing.T) {
	s, err := openSealed(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // The test is over.
	keys, err := seal.New(seal.Source{KeyFile: "unused"})
	require.NoError(t, err)
	wrapped := seal.NewStore(plainStore{s}, keys)
	digest := store.Digest([]byte("x"))
	require.ErrorContains(t, wrapped.PutBlob(t.Context(), digest, strings.NewReader("x")), "cannot keep sealed contents", "PutBlob")
	_, err = wrapped.OpenBlob(t.Context(), digest)
	require.ErrorContains(t, err, "cannot keep sealed contents", "OpenBlob")
}
