package lcm_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxContent is the bound of the stores of these tests.
const maxContent = 3 << 19

// bounded is a store that keeps contents up to 1.5 MiB, as remote ones have a bound.
type bounded struct{ encodedStore }

// known is one that says its bound, as remote ones do. What is larger is not sent to it.
type known struct {
	bounded
	t *testing.T
}

func (known) MaxContent() int64 { return maxContent }

func (s known) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	err := s.bounded.PutEncoded(ctx, digest, encode)
	if errors.As(err, new(*store.TooLargeError)) {
		s.t.Error("a file of a known size is sent to a store that cannot keep it")
	}
	return err
}

func (s bounded) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	var content bytes.Buffer
	if err := encode(&content); err != nil {
		return err
	}
	if content.Len() > maxContent {
		return &store.TooLargeError{What: "content " + digest, Size: int64(content.Len()), Limit: maxContent}
	}
	return s.encodedStore.PutEncoded(ctx, digest, func(w io.Writer) error {
		_, err := content.WriteTo(w)
		return err
	})
}

// TestLargeFilesStayAtTheirSource onboards a package with a file that the store does not keep. It is read at the source, another file
// is not taken for it, and a source that has gone is no obstacle to a removal.
func TestLargeFilesStayAtTheirSource(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]func(w *env) *lcm.Engine{
		"the bound is known": func(w *env) *lcm.Engine {
			return w.over(t, func(s encodedStore) store.Store { return known{bounded{s}, t} })
		},
		"the bound shows in the end": func(w *env) *lcm.Engine {
			return w.over(t, func(s encodedStore) store.Store { return bounded{s} })
		},
		// As a migration leaves it out.
		"the file is not there": func(w *env) *lcm.Engine { return w.open(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			testLargeFile(t, w, func() *lcm.Engine { return keeps(w) })
		})
	}
}

func testLargeFile(t *testing.T, w *env, open func() *lcm.Engine) {
	t.Helper()
	dir := filepath.Join(w.sources, "large")
	writePackage(t, dir, "4.0")
	image, image2 := bytes.Repeat([]byte("image"), 1<<19), bytes.Repeat([]byte("other"), 1<<19)
	at := filepath.Join(dir, "Files", "image.img")
	require.NoError(t, os.WriteFile(at, image, 0o600))
	p := onboardAs(t, open(), "large", dir)
	require.NoError(t, opened(t, w.dir).DeleteBlob(t.Context(), store.Digest(image)))

	// Each is a new process.
	read := func() ([]byte, error) {
		p, err := open().Package(t.Context(), p.ID)
		require.NoError(t, err)
		return fs.ReadFile(p.Content, "Files/image.img")
	}
	got, err := read()
	require.NoError(t, err)
	require.True(t, bytes.Equal(image, got))

	require.NoError(t, os.WriteFile(at, image2, 0o600))
	_, err = read()
	require.ErrorContains(t, err, "reading Files/image.img: the file has 2621440 bytes, is not in the store, and is read from the source of its package, "+dir+
		": it does not hold the file with the digest "+store.Digest(image)+" any more")

	require.NoError(t, os.RemoveAll(dir))
	_, err = read()
	require.ErrorContains(t, err, "bring the source back, or onboard the package from another one")
	left, err := open().Package(t.Context(), p.ID)
	require.NoError(t, err)
	_, err = fs.ReadFile(left.Content, "Files/a.yaml")
	require.NoError(t, err, "the store has the small files")

	e := open()
	require.NoError(t, e.ReleasePackage(t.Context(), p.ID, ""))
	_, err = e.Package(t.Context(), p.ID)
	require.ErrorIs(t, err, vnfm.ErrNotFound)
}
