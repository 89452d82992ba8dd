package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// far is a store whose answers take a second.
type far struct {
	counted
	mu           sync.Mutex
	gets, lists  int
	leases       []string
	fails        error
	listed       []Record
	beforeAnswer func()
}

func (s *far) answer(ctx context.Context, count *int) error {
	s.mu.Lock()
	*count++
	failed, before := s.fails, s.beforeAnswer
	s.fails, s.beforeAnswer = nil, nil
	s.mu.Unlock()
	<-time.After(time.Second)
	if before != nil {
		before()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failed
}

func (s *far) Get(ctx context.Context, _ Kind, id string) (*Record, error) {
	return &Record{Kind: KindVIM, ID: id, Revision: 1}, s.answer(ctx, &s.gets)
}

func (s *far) List(ctx context.Context, _ Query) ([]Record, error) {
	return s.listed, s.answer(ctx, &s.lists)
}

func (s *far) ReadAhead(_ context.Context, wanted ...Wanted) {
	for _, w := range wanted {
		s.leases = append(s.leases, w.Lease)
	}
}

// farAway tests a store whose answers take a second, in a time that passes at once.
func farAway(t *testing.T, test func(t *testing.T, below *far, s *recent, took func(want time.Duration))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		below := &far{listed: []Record{{Kind: KindOperation, ID: "o"}}}
		s := newRecent(below, time.Now)
		began := time.Now()
		test(t, below, s, func(want time.Duration) {
			t.Helper()
			assert.Equal(t, want, time.Since(began).Truncate(time.Second))
		})
		synctest.Wait()
	})
}

// TestReadAhead: what is asked for ahead is on its way when it is read, and is asked for once.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	farAway(t, func(t *testing.T, below *far, s *recent, took func(time.Duration)) {
		ctx, of := t.Context(), Query{Kind: KindOperation, Owner: "i"}
		ReadAhead(ctx, &unwritten{Store: &traced{s}}, Wanted{Kind: KindVIM, ID: "a"}, Wanted{Kind: KindVIM, ID: "b"},
			Wanted{Kind: KindOperation, Owner: "i"}, Wanted{Lease: "l"})
		ReadAhead(ctx, s, Wanted{Kind: KindOperation, Owner: "i"})
		synctest.Wait()
		for _, id := range []string{"a", "b"} {
			r, err := s.Get(ctx, KindVIM, id)
			require.NoError(t, err)
			assert.Equal(t, id, r.ID)
		}
		list, err := s.List(ctx, of)
		require.NoError(t, err)
		assert.Len(t, list, 1)
		took(time.Second)
		assert.Equal(t, [2]int{2, 1}, [2]int{below.gets, below.lists})
		assert.Equal(t, []string{"l"}, below.leases)
		// A list is given once.
		_, err = s.List(ctx, of)
		require.NoError(t, err)
		assert.Equal(t, 2, below.lists)
		took(2 * time.Second)
	})
}

// TestReadAheadIsNotTrustedTooLong: what was asked for before a lease was taken, before a write or long ago is asked for again, and so is
// what could not be read.
func TestReadAheadIsNotTrustedTooLong(t *testing.T) {
	t.Parallel()
	wanted := []Wanted{{Kind: KindVIM, ID: "a"}, {Kind: KindOperation, Owner: "i"}}
	for name, c := range map[string]struct {
		between func(t *testing.T, below *far, s *recent) context.Context
		again   [2]int
	}{
		"at once": {func(t *testing.T, _ *far, _ *recent) context.Context { t.Helper(); return t.Context() }, [2]int{1, 1}},
		"a lease": {func(t *testing.T, _ *far, s *recent) context.Context {
			t.Helper()
			l, err := s.Acquire(t.Context(), "l", "holder")
			require.NoError(t, err)
			return Under(t.Context(), l.Fence())
		}, [2]int{2, 2}},
		"a write": {func(t *testing.T, _ *far, s *recent) context.Context {
			t.Helper()
			require.NoError(t, s.Create(t.Context(), &Record{Kind: KindOperation, ID: "new", Owner: "i"}))
			return t.Context()
		}, [2]int{1, 2}},
		"a removal": {func(t *testing.T, _ *far, s *recent) context.Context {
			t.Helper()
			require.NoError(t, s.Delete(t.Context(), KindOperation, "of somebody"))
			return t.Context()
		}, [2]int{1, 2}},
		"a write of others": {func(t *testing.T, _ *far, s *recent) context.Context {
			t.Helper()
			require.NoError(t, s.Create(t.Context(), &Record{Kind: KindOperation, ID: "new", Owner: "other"}))
			return t.Context()
		}, [2]int{1, 1}},
		"a time": {func(t *testing.T, _ *far, _ *recent) context.Context {
			t.Helper()
			<-time.After(recentFor)
			return t.Context()
		}, [2]int{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			farAway(t, func(t *testing.T, below *far, s *recent, _ func(time.Duration)) {
				ReadAhead(t.Context(), s, wanted...)
				synctest.Wait()
				<-time.After(time.Millisecond)
				ctx := c.between(t, below, s)
				_, err := s.Get(ctx, KindVIM, "a")
				require.NoError(t, err)
				_, err = s.List(ctx, Query{Kind: KindOperation, Owner: "i"})
				require.NoError(t, err)
				asked := [2]int{below.gets, below.lists}
				assert.Equal(t, c.again, asked)
			})
		})
	}
	farAway(t, func(t *testing.T, below *far, s *recent, _ func(time.Duration)) {
		below.fails = errors.New("lost")
		ReadAhead(t.Context(), s, wanted[0])
		synctest.Wait()
		_, err := s.Get(t.Context(), KindVIM, "a")
		require.NoError(t, err)
		assert.Equal(t, 2, below.gets)
	})
	// A write of this handle while the answer is on its way.
	farAway(t, func(t *testing.T, below *far, s *recent, _ func(time.Duration)) {
		below.beforeAnswer = func() { _ = s.Delete(t.Context(), KindVIM, "a") }
		ReadAhead(t.Context(), s, wanted[0])
		synctest.Wait()
		_, err := s.Get(t.Context(), KindVIM, "a")
		require.ErrorIs(t, err, ErrNotFound)
		assert.Equal(t, 1, below.gets)
	})
}
