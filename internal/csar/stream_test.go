package csar

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless is a stream of zeros, as long as it is asked for.
type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestLargePackageStreams reads a package with an image of 100 MiB, as a directory and as an archive: the image is hashed,
// and never in memory.
func TestLargePackageStreams(t *testing.T) {
	const size = 100 << 20
	const mostAllocated = 16 << 20
	sum := sha256.New()
	if _, err := io.CopyN(sum, endless{}, size); err != nil {
		t.Fatal(err)
	}
	files := goodPackage()
	files["vnfd.mf"] += fmt.Sprintf("Source: Files/image.raw\nAlgorithm: SHA-256\nHash: %x\n", sum.Sum(nil))
	dir := filepath.Join(t.TempDir(), "package")
	files.write(t, dir)
	image := filepath.Join(dir, "Files", "image.raw")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, size))
	packed := filepath.Join(t.TempDir(), "package.zip")
	out, err := os.Create(packed)
	require.NoError(t, err)
	w := zip.NewWriter(out)
	for name, text := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(f, text)
		require.NoError(t, err)
	}
	f, err := w.CreateHeader(&zip.FileHeader{Name: "Files/image.raw", Method: zip.Store})
	require.NoError(t, err)
	_, err = io.CopyN(f, endless{}, size)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, out.Close())
	for _, path := range []string{dir, packed} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		archive, _, problems, err := Open(path, Options{}, Limits{})
		require.NoError(t, err)
		require.Empty(t, problems)
		runtime.ReadMemStats(&after)
		require.NoError(t, archive.Close())
		allocated := after.TotalAlloc - before.TotalAlloc
		assert.LessOrEqual(t, allocated, uint64(mostAllocated), "%s: %d MiB were allocated", filepath.Ext(path), allocated>>20)
	}
}
