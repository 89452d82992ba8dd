// Package store keeps the records of the VNF manager: VIMs, packages, instances
// and operations, the contents of packages, and leases that let one process at a
// time work on an object. Its sub-packages are the places where that is kept; all
// of them pass the conformance suite of package storetest.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	KindVIM       Kind = "vim"
	KindPackage   Kind = "package"
	KindInstance  Kind = "instance"
	KindOperation Kind = "operation"
	KindDryRun    Kind = "dry_run"
	KindPlan      Kind = "plan"
	KindChart     Kind = "chart"
	KindRegistry  Kind = "registry"
	// KindCancellation asks the process that runs an operation to stop it. Its id is that of the instance.
	KindCancellation Kind = "cancellation"
	// KindReport is what is known of an operation that has failed. Its id is that of the operation.
	KindReport Kind = "report"
	// KindKey is a key that is kept sealed.
	KindKey Kind = "key"
)

var (
	// ErrNotFound is returned when there is no such record or content.
	ErrNotFound = errors.New("not in the store")
	// ErrExists is returned when a record with the same id or natural key exists.
	ErrExists = errors.New("exists in the store")
	// ErrStale is returned when a record changed since it was read.
	ErrStale = errors.New("changed in the store since it was read")
	// ErrCorrupt is returned when a content does not have its digest any more. To
	// store the content again repairs it.
	ErrCorrupt = errors.New("damaged in the store")
)

// NotFound is ErrNotFound of a record.
func NotFound(kind Kind, id string) error { return fmt.Errorf("%s %q: %w", kind, id, ErrNotFound) }

// Exists is ErrExists of a record.
func Exists(r *Record) error {
	if r.Key == "" {
		return fmt.Errorf("%s %q: %w", r.Kind, r.ID, ErrExists)
	}
	return fmt.Errorf("%s %q with the natural key %q: %w", r.Kind, r.ID, r.Key, ErrExists)
}

// Record is one stored object. Data is readable by all readers of the store and
// holds no secret; Sealed is opaque to the store.
type Record struct {
	Kind Kind
	ID   string
	// Key is the natural key, unique within the kind; empty for none.
	Key string
	// Owner is the id of the object that the record belongs to (the instance of
	// an operation, the VIM of an instance); empty for none. Records can be
	// listed by it.
	Owner string
	// Revision rises with every write; 0 is a record that was never stored.
	Revision  int64
	Data      []byte
	Sealed    []byte
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Query selects records of one kind; empty fields select all.
type Query struct {
	Kind  Kind
	Owner string
	Key   string
}

// Store is a place for records, contents and leases. All methods are safe for
// concurrent use, by several processes as well.
type Store interface {
	// Get returns a record, or ErrNotFound.
	Get(ctx context.Context, kind Kind, id string) (*Record, error)
	// List returns the records that match, in the order of their creation.
	List(ctx context.Context, q Query) ([]Record, error)
	// Create, Update, Delete and DeleteBlob with a context of Under write nothing and
	// return a *vnfm.LeaseLostError when one of its leases was acquired again since,
	// which they look up in the transaction of the write: the lease cannot be acquired
	// before that has ended.

	// Create stores a new record and sets its Revision and times, or returns
	// ErrExists. A record that could not be stored is left as it is, here and in
	// Update.
	Create(ctx context.Context, r *Record) error
	// Update replaces a record whose Revision is the stored one and raises it;
	// otherwise it returns ErrStale, or ErrNotFound. A natural key that another
	// record has is ErrExists.
	Update(ctx context.Context, r *Record) error
	// Delete removes a record; ErrNotFound when there is none.
	Delete(ctx context.Context, kind Kind, id string) error

	// PutBlob keeps a content under its digest ("sha256:<hex>"). It reads r to
	// the end, refuses a content with another digest and does nothing when the
	// content is there already and undamaged.
	PutBlob(ctx context.Context, digest string, r io.Reader) error
	// OpenBlob reads a content, or returns ErrNotFound. A content that does not
	// have its digest any more gives ErrCorrupt, at the end of reading at the
	// latest: what was read is to be used only after io.EOF.
	OpenBlob(ctx context.Context, digest string) (io.ReadCloser, error)
	// DeleteBlob removes a content; a missing one is success.
	DeleteBlob(ctx context.Context, digest string) error

	// Acquire takes the lease of that name for holder (usually process.Name()), renews
	// it in the background until Release, and returns a *HeldError when somebody
	// has it and is alive: another process, another handle or another caller with
	// the same holder. A holder that stopped renewing, or whose process is known
	// to be dead (process.Dead), loses it. The end of ctx does not end the lease.
	// The last token of a lease is kept when it is released, so that its
	// fences rise for ever.
	Acquire(ctx context.Context, name, holder string) (Lease, error)

	// Close gives back the leases that are still held, closing their Lost, and
	// ends the handle. Closing twice is harmless.
	Close() error
}

// Lease is the right to work on an object.
type Lease interface {
	// Fence names this acquisition.
	Fence() Fence
	// TakenOver reports whether the holder before did not give the lease back: it was killed, or lost it.
	TakenOver() bool
	// Lost is closed when the lease could not be renewed in time: the work must
	// stop. Release does not close it.
	Lost() <-chan struct{}
	// Unanswered says why a lease was lost that nobody else has taken: since when the store has not answered. Else it is nil.
	Unanswered() error
	// Release gives the lease back, also when ctx has ended already: the end of
	// ctx is the usual reason to stop working. A lost lease is success, and so is
	// a second call.
	Release(ctx context.Context) error
}

// Fence is one acquisition of a lease. A process that was stopped for longer than its
// lease lives, or whose clock was set, cannot know that it has lost it: its fence tells
// the store.
type Fence struct {
	// Lease is the name of the lease.
	Lease string
	// Token rises with each acquisition of that lease.
	Token int64
}

type fencesKey struct{}

// Under returns a context whose writes are refused once the lease of f was acquired
// again, in addition to those of the leases that ctx is under already. A fence without a
// lease adds nothing.
func Under(ctx context.Context, f Fence) context.Context {
	if f.Lease == "" {
		return ctx
	}
	return context.WithValue(ctx, fencesKey{}, append(slices.Clone(Fences(ctx)), f))
}

// Fences are those that ctx is under.
func Fences(ctx context.Context) []Fence {
	fences, _ := ctx.Value(fencesKey{}).([]Fence)
	return fences
}

type foreseenKey struct{}

// Foreseeing returns a context for making records and contents that will be written or deleted under leases of these names later, which a
// store may prepare for.
func Foreseeing(ctx context.Context, leases ...string) context.Context {
	return context.WithValue(ctx, foreseenKey{}, append(slices.Clone(Foreseen(ctx)), leases...))
}

// Foreseen are the names of the leases that ctx foresees.
func Foreseen(ctx context.Context) []string {
	leases, _ := ctx.Value(foreseenKey{}).([]string)
	return leases
}

// Free returns a context that is under no lease: for work that does not depend on those of ctx.
func Free(ctx context.Context) context.Context {
	return context.WithValue(ctx, fencesKey{}, []Fence(nil))
}

// EncodedBlobs is implemented by stores that can keep a content in another form
// than the one that its digest names, such as sealed. The form is the caller's
// matter, and so is checking the digest.
type EncodedBlobs interface {
	// PutEncoded keeps what encode writes under the digest, instead of what
	// was there. When encode fails, its error is returned and nothing changes.
	PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error
	// OpenEncoded reads what PutEncoded kept, or returns ErrNotFound.
	OpenEncoded(ctx context.Context, digest string) (io.ReadCloser, error)
}

// HeldError says who holds a lease.
type HeldError struct {
	Name   string
	Holder string
	Since  time.Time
	// Renewed is the last sign of life of the holder, and Expires when the lease ends without another one, by the clock of this
	// machine. Both are zero where nobody has asked, as in a list.
	Renewed, Expires time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("lease %q has been held by %s since %s", e.Name, e.Holder, e.Since.UTC().Format(time.RFC3339))
}
