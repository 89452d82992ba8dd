package catalog

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
)

// TestASourceThatIsSwapped puts another file in place of the one whose checksum was
// checked: what is read is what was checked.
func TestASourceThatIsSwapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.csar")
	write := func(text string) string {
		t.Helper()
		f, err := os.CreateTemp(filepath.Dir(path), "")
		require.NoError(t, err)
		z := zip.NewWriter(f)
		w, err := z.Create("text")
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil || z.Close() != nil || f.Close() != nil || os.Rename(f.Name(), path) != nil {
			t.Fatal("the archive cannot be written: ", err)
		}
		in, err := os.Open(path)
		require.NoError(t, err)
		defer in.Close() //nolint:errcheck // A file that was only read.
		digest, err := fileDigest(in)
		require.NoError(t, err)
		return digest
	}
	checked := write("checked")
	f, err := openSource(t.Context(), path, checked, "", nil)
	require.NoError(t, err)
	write("swapped")
	archive, _, _, err := csar.OpenFile(f.file, csar.Options{Integrity: csar.IntegrityEnforce}, csar.DefaultLimits())
	require.NoError(t, err)
	require.NotNil(t, archive)
	defer archive.Close() //nolint:errcheck // An archive that was only read.
	in, err := archive.Open("text")
	require.NoError(t, err)
	defer in.Close() //nolint:errcheck // As above.
	if text, err := io.ReadAll(in); err != nil || string(text) != "checked" {
		t.Errorf("read %q, %v, want what was checked", text, err)
	}
}
