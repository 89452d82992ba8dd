package catalog

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// bundled is a package of these files, and the store that it is kept in.
func bundled(t *testing.T, files map[string][]byte) (*vnfm.Package, store.Store) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	p := &vnfm.Package{Name: "core"}
	content := fstest.MapFS{}
	for name, data := range files {
		content[name] = &fstest.MapFile{Data: data}
		p.Files = append(p.Files, vnfm.PackageFile{Path: name, Digest: store.Digest(data), Size: int64(len(data))})
	}
	p.Content = content
	return p, s
}

// TestBundle keeps the small files of a package together and the others by themselves,
// and reads all of them again.
func TestBundle(t *testing.T) {
	files := map[string][]byte{
		"a.yaml": []byte("a: 1\n"), "same.yaml": []byte("a: 1\n"), "no-end": []byte("x"), "empty": {},
		"like-a-bundle": []byte("sha256:0 5\nabcde"), "image": bytes.Repeat([]byte("i"), maxBundled+1),
	}
	p, s := bundled(t, files)
	bundle, rest, err := New(Config{}).putBundle(t.Context(), s, p)
	require.NoError(t, err)
	require.Len(t, rest, 1, "not in the bundle")
	require.Equal(t, "image", rest[0].Path, "not in the bundle")
	require.NoError(t, putFile(t.Context(), s, p, rest[0]))
	cache := &contentCache{}
	for range 2 {
		c := newContent(s, cache, p.Files, bundle, "")
		for name, want := range files {
			if got, err := fs.ReadFile(c, name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
		// Once read, it is not read again.
		require.NoError(t, s.DeleteBlob(t.Context(), bundle))
	}
	if _, err := fs.ReadFile(newContent(s, &contentCache{}, p.Files, bundle, ""), "a.yaml"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "apply the package again") {
		t.Errorf("a lost bundle is %v", err)
	}
}

// TestBundleOfAChangedFile refuses a file that is another one than its package says.
func TestBundleOfAChangedFile(t *testing.T) {
	for name, change := range map[string]string{"changed": "b: 1\n", "grown": "a: 1\nb: 2\n", "cut": "a:"} {
		p, s := bundled(t, map[string][]byte{"a.yaml": []byte("a: 1\n")})
		p.Content = fstest.MapFS{"a.yaml": &fstest.MapFile{Data: []byte(change)}}
		if _, _, err := New(Config{}).putBundle(t.Context(), s, p); err == nil || !strings.Contains(err.Error(), `storing a.yaml of package "core"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadBundle(t *testing.T) {
	for _, text := range []string{"x", "x y\n", "x 5\nabcd", "x -1\n", "\n"} {
		if files, err := readBundle([]byte(text)); !errors.Is(err, errBundle) {
			t.Errorf("%q gives %v, %v", text, files, err)
		}
	}
}

// TestContentCache has room for the last contents that were read.
func TestContentCache(t *testing.T) {
	var c contentCache
	reads := 0
	for _, digest := range []string{"a", "b", "a", "b", "c", "a", "c"} {
		if _, err := c.files(digest, func() (map[string][]byte, error) {
			reads++
			return map[string][]byte{digest: make([]byte, maxCached/2)}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	// a, b, c in place of a, and a again in place of b.
	require.Equal(t, 4, reads, "contents were read")
}
