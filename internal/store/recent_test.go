package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counted is a store of one record that counts reads.
type counted struct {
	Store
	record *Record
	reads  int
	// during is called while a record is read.
	during func()
}

func (s *counted) Get(context.Context, Kind, string) (*Record, error) {
	s.reads++
	if s.record == nil {
		return nil, NotFound(KindVIM, "a")
	}
	found := *s.record
	if s.during != nil {
		s.during()
	}
	return &found, nil
}

func (s *counted) Create(_ context.Context, r *Record) error {
	r.Revision = 1
	return s.set(r)
}

func (s *counted) Update(_ context.Context, r *Record) error {
	if r.Revision != s.record.Revision {
		return ErrStale
	}
	r.Revision++
	return s.set(r)
}

func (s *counted) Delete(context.Context, Kind, string) error {
	s.record = nil
	return nil
}

func (s *counted) Acquire(context.Context, string, string) (Lease, error) { return fixed{}, nil }

// fixed is a lease of the first acquisition.
type fixed struct{ Lease }

func (fixed) Fence() Fence { return Fence{Lease: "l", Token: 1} }

func (s *counted) set(r *Record) error {
	written := *r
	s.record = &written
	return nil
}

// TestKeepRecent: a record is not read again for a moment, unless that is under a lease, and never after a write that says more of it.
func TestKeepRecent(t *testing.T) {
	t.Parallel()
	ctx, below, now := t.Context(), &counted{}, time.Now()
	s := newRecent(below, func() time.Time { return now })
	read := func(ctx context.Context, revision int64, reads int) {
		t.Helper()
		got, err := s.Get(ctx, KindVIM, "a")
		if revision == 0 {
			require.ErrorIs(t, err, ErrNotFound)
		} else {
			require.NoError(t, err)
			require.Equal(t, revision, got.Revision)
		}
		require.Equal(t, reads, below.reads)
	}
	read(ctx, 0, 1)
	// That there is none is an answer like any other.
	read(ctx, 0, 1)
	now = now.Add(recentFor)
	read(ctx, 0, 2)
	r := &Record{Kind: KindVIM, ID: "a"}
	require.NoError(t, s.Create(ctx, r))
	read(ctx, 1, 2)
	now = now.Add(recentFor)
	read(ctx, 1, 3)

	// Another process writes.
	other := *r
	require.NoError(t, below.Update(ctx, &other))
	read(ctx, 1, 3)
	require.ErrorIs(t, s.Update(ctx, r), ErrStale)
	read(ctx, 2, 4)
	require.NoError(t, below.Update(ctx, &other))
	lease, err := s.Acquire(ctx, "l", "holder")
	require.NoError(t, err)
	under := Under(ctx, lease.Fence())
	now = now.Add(time.Millisecond)
	read(under, 3, 5)
	read(under, 3, 5)
	read(ctx, 3, 5)
	// A lease that this handle has had and another one has now.
	read(Under(ctx, Fence{Lease: "l", Token: 2}), 3, 6)
	_, err = s.Acquire(ctx, "l", "holder")
	require.NoError(t, err)
	now = now.Add(time.Millisecond)
	read(under, 3, 7)
	below.reads = 5

	// What was read before a write is older than it.
	now = now.Add(recentFor)
	below.during = func() {
		below.during = nil
		require.NoError(t, s.Update(ctx, &other))
	}
	read(ctx, 3, 6)
	read(ctx, 4, 6)
	require.NoError(t, s.Delete(ctx, KindVIM, "a"))
	read(ctx, 0, 6)
}
