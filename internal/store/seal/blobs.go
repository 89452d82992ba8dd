package seal

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// MaxContent is that of the store which keeps the sealed contents.
func (s *Store) MaxContent() int64 { return store.MaxContent(s.Store) }

// PutBlob seals a content on its way into the store. One that is there already is
// read first: sealed with a lost key or damaged, it is replaced.
func (s *Store) PutBlob(ctx context.Context, digest string, r io.Reader) error {
	s.mu.Lock()
	if s.contents == nil {
		store.ReadAhead(ctx, s.Store, KeyWanted())
	}
	s.mu.Unlock()
	intact, err := s.intact(ctx, digest)
	if err != nil {
		return err
	}
	if intact {
		return store.CheckUpload(ctx, r, digest)
	}
	return s.encoded.PutEncoded(ctx, digest, func(w io.Writer) error {
		sealed, err := s.sealWriter(ctx, w)
		if err != nil {
			return err
		}
		if err := store.CopyBlob(ctx, sealed, r, digest); err != nil {
			return err
		}
		return sealed.Close()
	})
}

// OpenBlob reads the plain text of a content and checks its digest at the end.
func (s *Store) OpenBlob(ctx context.Context, digest string) (io.ReadCloser, error) {
	f, err := s.encoded.OpenEncoded(ctx, digest)
	if err != nil {
		return nil, err
	}
	plain, err := s.openReader(ctx, f)
	if err != nil {
		return nil, errors.Join(corrupt(digest, err), f.Close())
	}
	return store.VerifyBlob(corruptReader{r: plain, digest: digest}, f, digest), nil
}

func (s *Store) intact(ctx context.Context, digest string) (bool, error) {
	r, err := s.OpenBlob(ctx, digest)
	if _, wrongKey := errors.AsType[*WrongKeyError](err); wrongKey || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // A content that was only read.
	return store.IsIntact(ctx, r, digest)
}

// corrupt makes damage of the sealed form what damage of a content is to the store.
func corrupt(digest string, err error) error {
	if errors.Is(err, errDamaged) {
		return fmt.Errorf("content %s: %w: %w", digest, store.ErrCorrupt, err)
	}
	return fmt.Errorf("content %s: %w", digest, err)
}

type corruptReader struct {
	r      io.Reader
	digest string
}

func (c corruptReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = corrupt(c.digest, err)
	}
	return n, err
}

// plainOnly stands for a store that cannot keep contents in another form.
type plainOnly struct{}

var errPlainOnly = errors.New("the store cannot keep sealed contents")

func (plainOnly) PutEncoded(context.Context, string, func(io.Writer) error) error {
	return errPlainOnly
}

func (plainOnly) OpenEncoded(context.Context, string) (io.ReadCloser, error) {
	return nil, errPlainOnly
}
