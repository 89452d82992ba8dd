package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a store whose answers take a second, and which can be read as a whole.
type small struct {
	far
	whole  *Whole
	wholes int
	// leases counts the readings that have seen leases.
	seen int
	// since is since when nobody has had the leases that are taken.
	since time.Time
}

func (s *small) ReadWhole(ctx context.Context, leases bool) (*Whole, error) {
	if leases {
		s.seen++
	}
	at := time.Now()
	if err := s.answer(ctx, &s.wholes); err != nil || s.whole == nil {
		return nil, err
	}
	return &Whole{Records: s.whole.Records, At: at, Leases: leases}, nil
}

func (s *small) Acquire(context.Context, string, string) (Lease, error) {
	return undisturbedLease{since: s.since}, nil
}

type undisturbedLease struct {
	fixed
	since time.Time
}

func (l undisturbedLease) UnheldSince() time.Time { return l.since }

// TestWhole: of a small store, everything is read at once, and what was written since is known.
func TestWhole(t *testing.T) {
	t.Parallel()
	vim := func(id string) Record {
		return Record{Kind: KindVIM, ID: id, Owner: "o", Revision: 1, CreatedAt: time.Unix(1, 0)}
	}
	ids := func(t *testing.T, s *recent, ctx context.Context, q Query) (out []string) { //nolint:revive // The test comes first.
		t.Helper()
		list, err := s.List(ctx, q)
		require.NoError(t, err)
		for _, r := range list {
			out = append(out, r.ID)
		}
		return out
	}
	type asked struct{ wholes, gets, lists int }
	for name, test := range map[string]struct {
		prepare func(below *small)
		do      func(t *testing.T, below *small, s *recent)
		want    asked
		took    time.Duration
	}{
		"the first read reads all": {do: func(t *testing.T, _ *small, s *recent) {
			t.Helper()
			for range 2 {
				r, err := s.Get(t.Context(), KindVIM, "a")
				require.NoError(t, err)
				assert.Equal(t, "a", r.ID)
				_, err = s.Get(t.Context(), KindInstance, "a")
				require.ErrorIs(t, err, ErrNotFound)
				assert.Equal(t, []string{"a", "b"}, ids(t, s, t.Context(), Query{Kind: KindVIM}))
				assert.Empty(t, ids(t, s, t.Context(), Query{Kind: KindVIM, Owner: "other"}))
			}
		}, want: asked{wholes: 1}, took: time.Second},
		"those who ask meanwhile wait for it": {do: func(t *testing.T, _ *small, s *recent) {
			t.Helper()
			ReadAhead(t.Context(), s, Wanted{Kind: KindVIM, ID: "a"}, Wanted{Kind: KindOperation}, Wanted{Kind: KindPackage, ID: "p"})
			_, err := s.Get(t.Context(), KindVIM, "a")
			require.NoError(t, err)
			assert.Empty(t, ids(t, s, t.Context(), Query{Kind: KindOperation}))
		}, want: asked{wholes: 1}, took: time.Second},
		"writes are known": {do: func(t *testing.T, _ *small, s *recent) {
			t.Helper()
			ids(t, s, t.Context(), Query{Kind: KindVIM})
			c := vim("c")
			require.NoError(t, s.Create(t.Context(), &c))
			require.NoError(t, s.Delete(t.Context(), KindVIM, "a"))
			assert.Equal(t, []string{"b", "c"}, ids(t, s, t.Context(), Query{Kind: KindVIM}))
			_, err := s.Get(t.Context(), KindVIM, "a")
			require.ErrorIs(t, err, ErrNotFound)
		}, want: asked{wholes: 1}, took: time.Second},
		"a write that failed is not": {do: func(t *testing.T, below *small, s *recent) {
			t.Helper()
			ids(t, s, t.Context(), Query{Kind: KindVIM})
			a := vim("a")
			below.record = &Record{Revision: 2}
			require.ErrorIs(t, s.Update(t.Context(), &a), ErrStale)
			ids(t, s, t.Context(), Query{Kind: KindVIM})
			_, err := s.Get(t.Context(), KindVIM, "a")
			require.NoError(t, err)
		}, want: asked{wholes: 1, lists: 1, gets: 1}, took: 3 * time.Second},
		"a moment later it is read again by who needs more": {do: func(t *testing.T, _ *small, s *recent) {
			t.Helper()
			ids(t, s, t.Context(), Query{Kind: KindVIM})
			<-time.After(recentFor)
			_, err := s.Get(t.Context(), KindVIM, "a")
			require.NoError(t, err)
			ReadAhead(t.Context(), s, Wanted{Kind: KindVIM, ID: "a"}, Wanted{Kind: KindVIM})
			ids(t, s, t.Context(), Query{Kind: KindVIM})
		}, want: asked{wholes: 2, gets: 1}, took: 6 * time.Second},
		"a lease that others may have had": {do: func(t *testing.T, below *small, s *recent) {
			t.Helper()
			ids(t, s, t.Context(), Query{Kind: KindVIM})
			below.since = time.Now()
			l, err := s.Acquire(t.Context(), "l", "holder")
			require.NoError(t, err)
			ctx := Under(t.Context(), l.Fence())
			<-time.After(time.Millisecond)
			_, err = s.Get(ctx, KindVIM, "a")
			require.NoError(t, err)
			ids(t, s, ctx, Query{Kind: KindVIM})
		}, want: asked{wholes: 1, gets: 1, lists: 1}, took: 3 * time.Second},
		"a lease that nobody has had since it was seen": {do: func(t *testing.T, below *small, s *recent) {
			t.Helper()
			below.since = time.Now().Add(-1)
			ReadAhead(t.Context(), s, Wanted{Lease: "l"})
			ReadAhead(t.Context(), s, Wanted{Lease: "m"})
			l, err := s.Acquire(t.Context(), "l", "holder")
			require.NoError(t, err)
			ctx := Under(t.Context(), l.Fence())
			_, err = s.Get(ctx, KindVIM, "a")
			require.NoError(t, err)
			ids(t, s, ctx, Query{Kind: KindVIM})
			assert.Equal(t, 1, below.seen)
		}, want: asked{wholes: 1}, took: time.Second},
		"a large store": {prepare: func(below *small) { below.whole = nil }, do: func(t *testing.T, _ *small, s *recent) {
			t.Helper()
			_, err := s.Get(t.Context(), KindVIM, "a")
			require.NoError(t, err)
			ids(t, s, t.Context(), Query{Kind: KindVIM})
			ReadAhead(t.Context(), s, Wanted{Kind: KindPackage}, Wanted{Lease: "l"})
			ids(t, s, t.Context(), Query{Kind: KindPackage})
		}, want: asked{wholes: 1, gets: 1, lists: 2}, took: 4 * time.Second},
		"an error": {prepare: func(below *small) { below.fails = errors.New("away") }, do: func(t *testing.T, _ *small, s *recent) {
			t.Helper()
			_, err := s.Get(t.Context(), KindVIM, "a")
			require.NoError(t, err)
		}, want: asked{wholes: 1, gets: 1}, took: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				below := &small{whole: &Whole{Records: []Record{vim("a"), vim("b")}}}
				if test.prepare != nil {
					test.prepare(below)
				}
				began := time.Now()
				test.do(t, below, newRecent(below, time.Now))
				assert.Equal(t, test.took, time.Since(began).Truncate(time.Second))
				synctest.Wait()
				below.mu.Lock()
				defer below.mu.Unlock()
				assert.Equal(t, test.want, asked{below.wholes, below.gets, below.lists})
			})
		})
	}
}

// TestSeen: a lease is taken as it was seen once, by its name or among all.
func TestSeen(t *testing.T) {
	t.Parallel()
	var seen Seen[string]
	take := func(name, as string, since int64, ok bool) {
		t.Helper()
		assert.Equal(t, ok, seen.Knows(name))
		gotAs, gotSince, gotOK := seen.Take(name)
		assert.Equal(t, ok, gotOK)
		if ok {
			assert.Equal(t, as, gotAs)
			assert.Equal(t, time.Unix(since, 0), gotSince)
		}
	}
	take("a", "", 0, false)
	seen.See("a", "1", time.Unix(1, 0))
	take("a", "1", 1, true)
	take("a", "", 0, false)
	seen.See("held", "1", time.Unix(1, 0))
	seen.SeeAll(map[string]string{"a": "2"}, map[string]bool{"held": true}, time.Unix(2, 0))
	take("a", "2", 2, true)
	take("a", "", 0, false)
	take("held", "", 0, false)
	take("new", "", 2, true)
	take("new", "", 0, false)
}
