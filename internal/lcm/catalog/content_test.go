package catalog

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestContentIsAFileSystem(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	names := []string{"vnfd.yaml", "Files/chart/Chart.yaml", "Files/chart/templates/a.yaml", "Files/chart/templates/b.yaml", "Files/readme"}
	var files []vnfm.PackageFile
	for _, name := range names {
		digest := store.Digest([]byte(name))
		if err := s.PutBlob(t.Context(), digest, strings.NewReader(name)); err != nil {
			t.Fatal(err)
		}
		files = append(files, vnfm.PackageFile{Path: name, Digest: digest, Size: int64(len(name))})
	}
	if err := fstest.TestFS(newContent(s, &contentCache{}, files, ""), names...); err != nil {
		t.Error(err)
	}
}
