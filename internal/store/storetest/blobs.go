package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func digestOf(content string) string { return store.Digest([]byte(content)) }

func reader(content string) *strings.Reader { return strings.NewReader(content) }

func readBlob(ctx context.Context, s store.Store, digest string) (string, error) {
	r, err := s.OpenBlob(ctx, digest)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(r)
	return string(content), errors.Join(err, r.Close())
}

func wantBlob(t *testing.T, s store.Store, content string) {
	t.Helper()
	got, err := readBlob(t.Context(), s, digestOf(content))
	if err != nil || got != content {
		t.Errorf("content of %d bytes reads as %d bytes, %v", len(content), len(got), err)
	}
}

func wantNoBlob(t *testing.T, s store.Store, digest string) {
	t.Helper()
	if content, err := readBlob(t.Context(), s, digest); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OpenBlob(%q) = %q, %v, want ErrNotFound", digest, content, err)
	}
}

func testBlob(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	for _, content := range []string{"", "a content", "another\x00content\n"} {
		must(t, handles[0].PutBlob(t.Context(), digestOf(content), reader(content)))
		wantBlob(t, handles[1], content)
	}
	// Nobody sees a content before all of it is there.
	half := readerFunc(func([]byte) (int, error) {
		wantNoBlob(t, handles[1], digestOf("half, whole"))
		return 0, io.EOF
	})
	must(t, handles[0].PutBlob(t.Context(), digestOf("half, whole"), io.MultiReader(reader("half"), half, reader(", whole"), half)))
	wantBlob(t, handles[1], "half, whole")

	must(t, handles[1].DeleteBlob(t.Context(), digestOf("a content")))
	must(t, handles[1].DeleteBlob(t.Context(), digestOf("a content")))
	wantNoBlob(t, handles[0], digestOf("a content"))
	wantBlob(t, handles[0], "")
	must(t, handles[0].PutBlob(t.Context(), digestOf("a content"), reader("a content")))
	wantBlob(t, handles[1], "a content")
}

func testBlobDigest(t *testing.T, b Backend) {
	s := b.one(t)
	digest := digestOf("the content")
	for _, other := range []string{"another content", "the content, longer", "the conten", ""} {
		r := reader(other)
		if err := s.PutBlob(t.Context(), digest, r); err == nil || !strings.Contains(err.Error(), digest) {
			t.Errorf("PutBlob of %q under another digest = %v, want an error that names the digest", other, err)
		}
		wantNoBlob(t, s, digest)
	}
	must(t, s.PutBlob(t.Context(), digest, reader("the content")))
	if err := s.PutBlob(t.Context(), digest, reader("another content")); err == nil {
		t.Error("PutBlob over an existing content took another one")
	}
	wantBlob(t, s, "the content")

	hex := strings.TrimPrefix(digest, "sha256:")
	for _, bad := range []string{"", hex, "sha256:", "sha256:" + hex[1:], "sha256:" + strings.ToUpper(hex), "md5:" + hex, "sha256:../" + hex[3:], digest + "/x"} {
		if err := s.PutBlob(t.Context(), bad, reader("the content")); err == nil {
			t.Errorf("PutBlob took the digest %q", bad)
		}
		if _, err := s.OpenBlob(t.Context(), bad); err == nil {
			t.Errorf("OpenBlob took the digest %q", bad)
		}
		if err := s.DeleteBlob(t.Context(), bad); err == nil {
			t.Errorf("DeleteBlob took the digest %q", bad)
		}
	}
}

func testBlobReadError(t *testing.T, b Backend) {
	s := b.one(t)
	broken := errors.New("the other side hung up")
	digest := digestOf("the content")
	err := s.PutBlob(t.Context(), digest, io.MultiReader(reader("the con"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("PutBlob = %v, want the error of the reader", err)
	}
	wantNoBlob(t, s, digest)

	ctx, cancel := context.WithCancel(t.Context())
	endless := iotest.DataErrReader(readerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	}))
	if err := s.PutBlob(ctx, digest, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("PutBlob of an endless content = %v, want context.Canceled", err)
	}
	wantNoBlob(t, s, digest)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func testBlobTwice(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	for i := range 3 {
		r := reader("the content")
		must(t, handles[i%2].PutBlob(t.Context(), digestOf("the content"), r))
		if r.Len() != 0 {
			t.Errorf("PutBlob %d left %d bytes unread", i, r.Len())
		}
	}
	wantBlob(t, handles[0], "the content")
}

func testBlobDamaged(t *testing.T, b Backend) {
	if b.Damage == nil {
		t.Skip("contents of this store cannot be changed behind its back")
	}
	address := b.New(t)
	s := b.open(t, address, 1)[0]
	content := strings.Repeat("the content ", 10_000)
	must(t, s.PutBlob(t.Context(), digestOf(content), reader(content)))
	b.Damage(t, address, digestOf(content))
	if _, err := readBlob(t.Context(), s, digestOf(content)); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("reading a damaged content = %v, want ErrCorrupt", err)
	}
	must(t, s.PutBlob(t.Context(), digestOf(content), reader(content)))
	wantBlob(t, s, content)
}

func testBlobBig(t *testing.T, b Backend) {
	s := b.one(t)
	size := int64(8<<20 + 1)
	if b.MaxContent != 0 {
		size = min(size, b.MaxContent)
	}
	content := random(t, size)
	must(t, s.PutBlob(t.Context(), store.Digest(content), iotest.HalfReader(bytes.NewReader(content))))
	wantBlob(t, s, string(content))
}

// testConcurrentBlobs lets everybody put the same contents and read whatever is
// there: nobody may see a part of one.
func testConcurrentBlobs(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 4)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			s := handles[w%len(handles)]
			for i := range 4 {
				content := strings.Repeat(fmt.Sprintf("content %d ", i), 20_000)
				got, err := readBlob(t.Context(), s, digestOf(content))
				if !errors.Is(err, store.ErrNotFound) && (err != nil || got != content) {
					t.Errorf("worker %d sees content %d as %d bytes, %v", w, i, len(got), err)
				}
				if err := s.PutBlob(t.Context(), digestOf(content), reader(content)); err != nil {
					t.Errorf("worker %d puts content %d: %v", w, i, err)
				}
				got, err = readBlob(t.Context(), s, digestOf(content))
				if err != nil || got != content {
					t.Errorf("worker %d reads content %d as %d bytes, %v", w, i, len(got), err)
				}
			}
		})
	}
	wg.Wait()
}
