package store

import (
	"context"
	"errors"
	"io"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
)

// traced is a store whose requests are spans.
type traced struct{ Store }

// Traced returns a store over s whose requests are spans; s itself when nothing is traced. Closing it closes s.
func Traced(s Store) Store {
	if !tracing.Enabled() {
		return s
	}
	t := &traced{s}
	if encoded, ok := s.(EncodedBlobs); ok {
		return struct {
			*traced
			EncodedBlobs
		}{t, encoded}
	}
	return t
}

// request makes a span of a request about records of a kind, or something else that it names.
func request(ctx context.Context, name, about string, work func(ctx context.Context) error) error {
	ctx, span := tracing.Start(ctx, tracing.Store, "store "+name)
	span.Text("vnf.store.object", about)
	err := work(ctx)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) {
		// It is an answer like any other.
		span.End(nil)
	} else {
		span.End(err)
	}
	return err
}

// Get implements Store.
func (t *traced) Get(ctx context.Context, kind Kind, id string) (r *Record, err error) {
	err = request(ctx, "get", string(kind), func(ctx context.Context) error {
		r, err = t.Store.Get(ctx, kind, id)
		return err
	})
	return r, err
}

// List implements Store.
func (t *traced) List(ctx context.Context, q Query) (list []Record, err error) {
	err = request(ctx, "list", string(q.Kind), func(ctx context.Context) error {
		list, err = t.Store.List(ctx, q)
		return err
	})
	return list, err
}

// Create implements Store.
func (t *traced) Create(ctx context.Context, r *Record) error {
	return request(ctx, "create", string(r.Kind), func(ctx context.Context) error { return t.Store.Create(ctx, r) })
}

// Update implements Store.
func (t *traced) Update(ctx context.Context, r *Record) error {
	return request(ctx, "update", string(r.Kind), func(ctx context.Context) error { return t.Store.Update(ctx, r) })
}

// Delete implements Store.
func (t *traced) Delete(ctx context.Context, kind Kind, id string) error {
	return request(ctx, "delete", string(kind), func(ctx context.Context) error { return t.Store.Delete(ctx, kind, id) })
}

// PutBlob implements Store.
func (t *traced) PutBlob(ctx context.Context, digest string, r io.Reader) error {
	return request(ctx, "put", digest, func(ctx context.Context) error { return t.Store.PutBlob(ctx, digest, r) })
}

// OpenBlob implements Store.
func (t *traced) OpenBlob(ctx context.Context, digest string) (content io.ReadCloser, err error) {
	err = request(ctx, "open", digest, func(ctx context.Context) error {
		content, err = t.Store.OpenBlob(ctx, digest)
		return err
	})
	return content, err
}

// DeleteBlob implements Store.
func (t *traced) DeleteBlob(ctx context.Context, digest string) error {
	return request(ctx, "delete", digest, func(ctx context.Context) error { return t.Store.DeleteBlob(ctx, digest) })
}

// Acquire implements Store. The lease is renewed outside of the trace.
func (t *traced) Acquire(ctx context.Context, name, holder string) (l Lease, err error) {
	err = request(ctx, "acquire", "lease", func(ctx context.Context) error {
		l, err = t.Store.Acquire(ctx, name, holder)
		return err
	})
	return l, err
}

// MaxContent is the size in bytes of the largest content that the store below keeps; 0 when it has no bound.
func (t *traced) MaxContent() int64 {
	if bounded, ok := t.Store.(interface{ MaxContent() int64 }); ok {
		return bounded.MaxContent()
	}
	return 0
}
