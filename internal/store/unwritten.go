package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// unwritten is a store with records that it has refused.
type unwritten struct {
	Store

	mu sync.Mutex
	// records are in the order of their creation.
	records []Record
}

// KeepUnwritten returns a store over s. Records that a refresh creates (vnfm.WithRefresh) and that s refuses with ErrReadOnly are kept
// in memory, as long as the handle is open, and a refresh gets a lease that s refuses so: it then changes nothing that others see.
// Any other write is refused as before, and so are keys, since a vault would keep what belongs to them, and notes for other processes.
// Closing it closes s.
func KeepUnwritten(s Store) Store {
	u := &unwritten{Store: s}
	if encoded, ok := s.(EncodedBlobs); ok {
		return struct {
			*unwritten
			EncodedBlobs
		}{u, encoded}
	}
	return u
}

// find returns the index of a record that is kept, -1 for none. It is called with the mutex held.
func (u *unwritten) find(kind Kind, id string) int {
	return slices.IndexFunc(u.records, func(r Record) bool { return r.Kind == kind && r.ID == id })
}

// Get implements Store.
func (u *unwritten) Get(ctx context.Context, kind Kind, id string) (*Record, error) {
	u.mu.Lock()
	i := u.find(kind, id)
	if i >= 0 {
		defer u.mu.Unlock()
		found := u.records[i]
		return &found, nil
	}
	u.mu.Unlock()
	return u.Store.Get(ctx, kind, id)
}

// List implements Store.
func (u *unwritten) List(ctx context.Context, q Query) ([]Record, error) {
	list, err := u.Store.List(ctx, q)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range u.records {
		if q.Selects(&r) {
			list = append(list, r)
		}
	}
	return list, nil
}

// Create implements Store.
func (u *unwritten) Create(ctx context.Context, r *Record) error {
	err := u.Store.Create(ctx, r)
	if !errors.Is(err, ErrReadOnly) || !vnfm.IsRefresh(ctx) || r.Kind == KindKey || r.Kind == KindDryRun || r.Kind == KindPlan {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.find(r.Kind, r.ID) >= 0 {
		return fmt.Errorf("%s %q: %w", r.Kind, r.ID, ErrExists)
	}
	r.Revision, r.CreatedAt = 1, time.Now().UTC()
	r.UpdatedAt = r.CreatedAt
	u.records = append(u.records, *r)
	vnfm.NoteUnwritten(ctx, err)
	return nil
}

// Update implements Store.
func (u *unwritten) Update(ctx context.Context, r *Record) error {
	u.mu.Lock()
	i := u.find(r.Kind, r.ID)
	if i < 0 {
		u.mu.Unlock()
		return u.Store.Update(ctx, r)
	}
	defer u.mu.Unlock()
	if u.records[i].Revision != r.Revision {
		return fmt.Errorf("%s %q: %w", r.Kind, r.ID, ErrStale)
	}
	r.Revision++
	r.UpdatedAt = time.Now().UTC()
	u.records[i] = *r
	return nil
}

// Delete implements Store.
func (u *unwritten) Delete(ctx context.Context, kind Kind, id string) error {
	u.mu.Lock()
	i := u.find(kind, id)
	if i < 0 {
		u.mu.Unlock()
		return u.Store.Delete(ctx, kind, id)
	}
	defer u.mu.Unlock()
	u.records = slices.Delete(u.records, i, i+1)
	return nil
}

// Acquire implements Store.
func (u *unwritten) Acquire(ctx context.Context, name, holder string) (Lease, error) {
	l, err := u.Store.Acquire(ctx, name, holder)
	if errors.Is(err, ErrReadOnly) && vnfm.IsRefresh(ctx) {
		return &unwrittenLease{lost: make(chan struct{})}, nil
	}
	return l, err
}

// MaxContent is the size in bytes of the largest content that the store below keeps; 0 when it has no bound.
func (u *unwritten) MaxContent() int64 {
	if bounded, ok := u.Store.(interface{ MaxContent() int64 }); ok {
		return bounded.MaxContent()
	}
	return 0
}

// unwrittenLease is a lease that no other process knows of: nothing that they see is changed under it. Its fence names none.
type unwrittenLease struct{ lost chan struct{} }

// Fence implements Lease.
func (*unwrittenLease) Fence() Fence { return Fence{} }

// TakenOver reports that nobody had the lease before.
func (*unwrittenLease) TakenOver() bool { return false }

// Lost implements Lease.
func (l *unwrittenLease) Lost() <-chan struct{} { return l.lost }

// Unanswered implements Lease.
func (*unwrittenLease) Unanswered() error { return nil }

// Release implements Lease.
func (*unwrittenLease) Release(context.Context) error { return nil }
