package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A store bounds the size of a content. A file beyond the bound, such as an image, stays at the source of its package, and whoever
// opens it reads it there. Its digest is that of the record: another file is never taken for it.

// leftOut notes the files that stay at a source. It is safe for concurrent use.
type leftOut struct {
	// location is the source, empty when a record must not have it.
	location string

	mu      sync.Mutex
	digests []string
}

// note returns the error of storing a file, nil for one that stays at the source.
func (l *leftOut) note(f vnfm.PackageFile, err error) error {
	if _, tooLarge := errors.AsType[*store.TooLargeError](err); !tooLarge {
		return err
	}
	if isExternal(f.Path) {
		return fmt.Errorf("%w: an external artifact is kept in the store", err)
	}
	if l.location == "" {
		return fmt.Errorf("%w: a larger file is read from the source of the package when it is needed, which a URL with a user name or a query cannot be, "+
			"since it may hold a token: give the source without them, or as a path", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.digests = append(l.digests, f.Digest)
	return nil
}

// without returns the digests but for those of the files that stay at the source.
func (l *leftOut) without(digests []string) []string {
	return slices.DeleteFunc(digests, func(digest string) bool { return slices.Contains(l.digests, digest) })
}

// In returns the files for reads that end with ctx.
func (c *content) In(ctx context.Context) fs.FS {
	bound := *c
	bound.ctx = ctx
	return &bound
}

// openLarge opens a large file in the store, or at the source of the package.
func (c *content) openLarge(f vnfm.PackageFile) (io.ReadCloser, error) {
	if c.location == "" {
		return c.open(f.Digest)
	}
	r, err := c.store.OpenBlob(c.ctx, f.Digest)
	if !errors.Is(err, store.ErrNotFound) {
		return r, err
	}
	r, err = openAtSource(c.ctx, c.location, c.access, f)
	if err != nil {
		return nil, fmt.Errorf("the file has %d bytes, is not in the store, and is read from the source of its package, %s: %w; "+
			"bring the source back, or onboard the package from another one", f.Size, c.location, err)
	}
	return r, nil
}

// openAtSource opens a file of a package at its source. A download ends with ctx, and is removed when the file is closed, at the latest.
func openAtSource(ctx context.Context, source string, access *vnfm.ChartAccess, f vnfm.PackageFile) (io.ReadCloser, error) {
	src, err := openSource(ctx, source, "", "", access)
	if err != nil {
		return nil, err
	}
	// The package was verified when it was onboarded, and the digest tells that the file is the same.
	archive, _, problems, err := csar.OpenFile(src.file, csar.Options{ //nolint:contextcheck // the budget brings the context
		Integrity: csar.IntegrityWarn, Signature: csar.SignatureIgnore, Budget: budget.New(ctx, budget.Limits{}),
	}, csar.DefaultLimits())
	if err == nil && archive == nil {
		err = problems.Err()
	}
	if err != nil {
		src.remove()
		return nil, err
	}
	opened := closers{archive.Close, func() error {
		src.remove()
		return nil
	}}
	for _, there := range archive.Files() {
		if there.Digest != f.Digest {
			continue
		}
		var file fs.File
		if file, err = archive.Open(there.Path); err == nil {
			return store.VerifyBlob(file, append(closers{file.Close}, opened...), f.Digest), nil
		}
		break
	}
	if err == nil {
		err = fmt.Errorf("it does not hold the file with the digest %s any more", f.Digest)
	}
	return nil, errors.Join(err, opened.Close())
}

// closers closes all.
type closers []func() error

// Close implements io.Closer.
func (c closers) Close() error {
	var errs []error
	for _, each := range c {
		errs = append(errs, each())
	}
	return errors.Join(errs...)
}
