package stores

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// addNamed puts a content of zeros into a store, and a record that names it.
func addNamed(t *testing.T, s *seal.Store, kind store.Kind, size int, record func(digest string) map[string]any) {
	t.Helper()
	content := strings.Repeat("\x00", size)
	digest := store.Digest([]byte(content))
	require.NoError(t, s.PutBlob(t.Context(), digest, strings.NewReader(content)))
	data, err := json.Marshal(record(digest))
	require.NoError(t, err)
	require.NoError(t, s.Create(t.Context(), &store.Record{Kind: kind, ID: digest, Data: data}))
}

// TestMigrateLargeContents copies contents to a store that keeps less than 100,000 bytes. What can be read elsewhere is left out; for
// what cannot, the target stays empty.
func TestMigrateLargeContents(t *testing.T) {
	without(t)
	ofPackage := func(size int, location string) func(digest string) map[string]any {
		return func(digest string) map[string]any {
			return map[string]any{
				"id": "core@1", "name": "core", "files": []any{map[string]any{"path": "Files/image.img", "digest": digest, "size": size}},
				"origin": map[string]any{"location": location},
			}
		}
	}
	for name, test := range map[string]struct {
		kind    store.Kind
		size    int
		record  func(digest string) map[string]any
		left    string
		refused string
	}{
		"file of a source":           {store.KindPackage, 2 << 20, ofPackage(2<<20, "/srv/core"), `Files/image.img of VNF package "core" (2097152 bytes), which is read from /srv/core when it is needed`, ""},
		"file of a secret source":    {store.KindPackage, 2 << 20, ofPackage(2<<20, ""), "", `Files/image.img of VNF package "core" (2097152 bytes): nothing was written; onboard such a package from a path`},
		"just fits":                  {store.KindPackage, 99_000, ofPackage(99_000, ""), "", ""},
		"fits when it is not sealed": {store.KindPackage, 99_990, ofPackage(99_990, ""), "", `Files/image.img of VNF package "core" (99990 bytes)`},
		"chart": {store.KindChart, 200_000, func(digest string) map[string]any {
			return map[string]any{"name": "cilium", "version": "1.2.3", "digest": digest, "size": 200_000}
		}, "", "the archive of chart cilium 1.2.3 (200000 bytes)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := openSealed(t, path)
			addNamed(t, s, test.kind, test.size, test.record)
			to := openLocalStore(t, filepath.Join(t.TempDir(), "store.db"))
			done, err := copyStore(t.Context(), &place{Portable: openLocalStore(t, path), name: "source"}, &place{Portable: small{to}, name: "target"})
			records, sums := content(t, to)
			if test.refused != "" {
				require.ErrorContains(t, err, test.refused)
				require.ErrorContains(t, err, "target keeps contents of at most 100000 bytes")
				require.Empty(t, records)
				require.Empty(t, sums)
				return
			}
			require.NoError(t, err)
			require.Len(t, records, 1)
			require.Equal(t, test.left, strings.Join(done.left, ""))
			require.Equal(t, test.left == "", len(sums) == 1)
		})
	}
}

// engine returns an engine on a store that is named as on the command line, with the key of the tests.
func engine(t *testing.T, name, key string) *lcm.Engine {
	t.Helper()
	keys, err := seal.New(seal.Source{KeyFile: key})
	require.NoError(t, err)
	e := lcm.New(lcm.Config{Keyring: keys, OpenStore: func(ctx context.Context) (store.Store, error) {
		p, err := openPlace(ctx, name, "test", false)
		if err != nil {
			return nil, err
		}
		return p.Portable, nil
	}})
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// onboardLarge onboards the example of a package, with a file of zeros.
func onboardLarge(t *testing.T, e *lcm.Engine, dir string, size int64) *vnfm.Package {
	t.Helper()
	image := filepath.Join(dir, "Files", "image.img")
	if _, err := os.Stat(image); err != nil {
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "examples", "packages", "core5g"))))
		require.NoError(t, os.MkdirAll(filepath.Dir(image), 0o700))
		f, err := os.Create(image)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(size))
		require.NoError(t, f.Close())
	}
	p, problems, err := e.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: "large", Source: dir, Integrity: "warn", Signature: "ignore"}, "")
	require.NoError(t, err)
	require.NoError(t, problems.Err())
	return p
}

// testLargeFile onboards a package with a file that is larger than a remote store keeps, in a local store from which it is moved there, and
// in another remote one. The file is read at its source, and an error says so when that has gone.
func testLargeFile(t *testing.T, remote, other string) {
	t.Helper()
	local, source := filepath.Join(t.TempDir(), "store.db"), t.TempDir()
	key := filepath.Join(filepath.Dir(local), "key.txt")
	openSealed(t, local)
	target, err := openPlace(t.Context(), remote, "test", false)
	require.NoError(t, err)
	defer func() { require.NoError(t, target.Close()) }()
	size := store.MaxContent(target.Portable) + 1
	p := onboardLarge(t, engine(t, local, key), source, size)
	read := func(at string) error {
		known, err := engine(t, at, key).Package(t.Context(), p.ID)
		require.NoError(t, err)
		_, err = fs.ReadFile(known.Content, "TOSCA-Metadata/TOSCA.meta")
		require.NoError(t, err, "the store has the small files")
		f, err := known.Content.Open("Files/image.img")
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, f)
		require.Equal(t, size, n)
		require.NoError(t, f.Close())
		return err
	}
	run(t, "store", "migrate", "--from", local, "--to", remote).want(t, 0, fmt.Sprintf(`left out: Files/image.img of VNF package "large" (%d bytes), which is read from %s`, size, source))
	onboardLarge(t, engine(t, other, key), source, size)
	require.NoError(t, read(remote))
	require.NoError(t, os.RemoveAll(source))
	for _, at := range []string{remote, other} {
		require.ErrorContains(t, read(at), fmt.Sprintf("the file has %d bytes, is not in the store, and is read from the source of its package, %s", size, source))
	}
	run(t, "store", "check", remote, "--key-file", key).want(t, 0, "0 damaged")
}
