package catalog

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDownloadEndsWithItsContext interrupts an operation that downloads a large file from a server which has stopped sending. Nothing of
// it is in the folder for temporary files, where a process that is killed would leave it.
func TestDownloadEndsWithItsContext(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	began, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 1<<16))
		_ = http.NewResponseController(w).Flush()
		close(began)
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), "test")
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	image := vnfm.PackageFile{Path: "Files/image.img", Digest: store.Digest([]byte("image")), Size: maxCachedFile + 1}
	p := &vnfm.Package{Content: newContent(s, &contentCache{}, []vnfm.PackageFile{image}, "", server.URL+"/core.csar")}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := p.ContentIn(ctx).Open(image.Path)
		failed <- err
	}()
	<-began
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Empty(t, left)
	}
	cancel()
	select {
	case err := <-failed:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(30 * time.Second):
		t.Fatal("the download does not end")
	}
	<-ended
}

// bounded is a store that keeps contents of at most 10 bytes. It may say so.
type bounded struct{ store.Store }

func (bounded) PutBlob(_ context.Context, digest string, _ io.Reader) error {
	return &store.TooLargeError{What: "content " + digest, Limit: 10}
}

type saysBound struct{ bounded }

func (saysBound) MaxContent() int64 { return 10 }

// TestChartTooLarge has a store that cannot keep a chart, which is not read anywhere else.
func TestChartTooLarge(t *testing.T) {
	t.Parallel()
	archive := []byte("larger than that")
	for _, s := range []store.Store{bounded{}, saysBound{}} {
		err := putChart(t.Context(), s, &vnfm.ChartSource{Path: "charts/edge"}, archive, store.Digest(archive))
		require.ErrorAs(t, err, new(*vnfm.InvalidError))
		require.ErrorContains(t, err, "charts/edge")
		require.ErrorContains(t, err, "the chart is too large for the store")
		require.ErrorContains(t, err, "use a store that keeps larger contents")
	}
}
