package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/durable"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// staleUpload is the age of a file that no write in progress has any more.
const staleUpload = 24 * time.Hour

// PutBlob keeps a content as a file named by its digest.
func (s *sqliteStore) PutBlob(ctx context.Context, digest string, r io.Reader) error {
	intact, err := s.intact(ctx, digest)
	if err != nil {
		return err
	}
	if intact {
		if err := store.CheckUpload(ctx, r, digest); err != nil {
			return err
		}
		return s.syncName(ctx, digest)
	}
	return s.PutEncoded(ctx, digest, func(w io.Writer) error { return store.CopyBlob(ctx, w, r, digest) })
}

// syncName brings the name of a content to the disk: the process that stored it may have been killed
// before that.
func (s *sqliteStore) syncName(ctx context.Context, digest string) error {
	path, err := s.blobPath(ctx, digest)
	if err != nil {
		return err
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil {
		return s.explain("storing the content "+digest, err)
	}
	return nil
}

// OpenBlob reads a content and checks its digest at the end.
func (s *sqliteStore) OpenBlob(ctx context.Context, digest string) (io.ReadCloser, error) {
	f, err := s.OpenEncoded(ctx, digest)
	if err != nil {
		return nil, err
	}
	return store.VerifyBlob(f, f, digest), nil
}

// DeleteBlob removes a content; a missing one is success.
func (s *sqliteStore) DeleteBlob(ctx context.Context, digest string) error {
	path, err := s.blobPath(ctx, digest)
	if err != nil {
		return err
	}
	doing := "deleting the content " + digest
	if len(store.Fences(ctx)) > 0 {
		// The transaction keeps the leases from being acquired.
		return s.change(ctx, doing, func(*sql.Tx) error { return removeFile(path) })
	}
	if err := removeFile(path); err != nil {
		return s.explain(doing, err)
	}
	return nil
}

// PutEncoded writes a file that appears under its name only when it is complete and
// on the disk, so that a killed process or a crash leaves the old file or none.
func (s *sqliteStore) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	path, err := s.blobPath(ctx, digest)
	if err != nil {
		return err
	}
	doing := "storing the content " + digest
	uploads := filepath.Join(s.dir, "blobs", "uploads")
	for _, dir := range []string{uploads, filepath.Dir(path)} {
		if err := durable.MkdirAll(dir, dirMode); err != nil {
			return s.explain(doing, err)
		}
	}
	removeStale(uploads)
	// CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(uploads, "")
	if err != nil {
		return s.explain(doing, err)
	}
	err = encode(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return s.explain(doing, errors.Join(err, removeFile(f.Name())))
	}
	return s.syncName(ctx, digest)
}

// OpenEncoded reads what PutEncoded wrote.
func (s *sqliteStore) OpenEncoded(ctx context.Context, digest string) (io.ReadCloser, error) {
	path, err := s.blobPath(ctx, digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("content %s: %w", digest, store.ErrNotFound)
	}
	if err != nil {
		return nil, s.explain("reading the content "+digest, err)
	}
	return f, nil
}

// intact reports whether a content is there and has its digest.
func (s *sqliteStore) intact(ctx context.Context, digest string) (bool, error) {
	f, err := s.OpenEncoded(ctx, digest)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // A file that was only read.
	return store.IsIntact(ctx, f, digest)
}

func (s *sqliteStore) blobPath(ctx context.Context, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	sum, err := store.ParseDigest(digest)
	if err != nil {
		return "", err
	}
	return filepath.Join(s.dir, "blobs", "sha256", sum[:2], sum), nil
}

// removeStale removes what killed processes left. It costs nobody anything when
// that does not work, so errors are left to those whom they concern.
func removeStale(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleUpload {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// removeFile is os.Remove for which a missing file is success.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
