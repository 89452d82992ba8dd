package catalog

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestContentIsAFileSystem(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	names := []string{"vnfd.yaml", "Files/chart/Chart.yaml", "Files/chart/templates/a.yaml", "Files/chart/templates/b.yaml", "Files/readme"}
	var files []vnfm.PackageFile
	for _, name := range names {
		digest := store.Digest([]byte(name))
		require.NoError(t, s.PutBlob(t.Context(), digest, strings.NewReader(name)))
		files = append(files, vnfm.PackageFile{Path: name, Digest: digest, Size: int64(len(name))})
	}
	require.NoError(t, fstest.TestFS(newContent(s, &contentCache{}, files, "", ""), names...))
}
