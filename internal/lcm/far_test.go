package lcm_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// trip is how long each answer of a store takes that is far away.
const trip = 100 * time.Millisecond

// away is a store that is far away.
type away struct {
	store.Portable
	mu sync.Mutex
	// seen is when the leases were seen, and since is the time since which those that were taken had no other holder.
	seen  time.Time
	since map[string]time.Time
}

func (s *away) Get(ctx context.Context, kind store.Kind, id string) (*store.Record, error) {
	<-time.After(trip)
	return s.Portable.Get(ctx, kind, id)
}

func (s *away) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	<-time.After(trip)
	return s.Portable.List(ctx, q)
}

func (s *away) Create(ctx context.Context, r *store.Record) error {
	<-time.After(trip)
	return s.Portable.Create(ctx, r)
}

func (s *away) Update(ctx context.Context, r *store.Record) error {
	<-time.After(trip)
	return s.Portable.Update(ctx, r)
}

func (s *away) Delete(ctx context.Context, kind store.Kind, id string) error {
	<-time.After(trip)
	return s.Portable.Delete(ctx, kind, id)
}

func (s *away) DeleteBlob(ctx context.Context, digest string) error {
	<-time.After(trip)
	return s.Portable.DeleteBlob(ctx, digest)
}

func (s *away) OpenBlob(ctx context.Context, digest string) (io.ReadCloser, error) {
	<-time.After(trip)
	return s.Portable.OpenBlob(ctx, digest)
}

func (s *away) OpenEncoded(ctx context.Context, digest string) (io.ReadCloser, error) {
	<-time.After(trip)
	return s.Portable.OpenEncoded(ctx, digest)
}

func (s *away) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	<-time.After(trip)
	return s.Portable.PutEncoded(ctx, digest, encode)
}

func (s *away) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	<-time.After(trip)
	l, err := s.Portable.Acquire(ctx, name, holder)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since, ok := s.since[name]
	if !ok {
		if since = s.seen; since.IsZero() {
			since = time.Now()
		}
		s.since[name] = since
	}
	return &awayLease{l, since}, nil
}

// ReadAhead notes which leases are new.
func (s *away) ReadAhead(_ context.Context, wanted ...store.Wanted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range wanted {
		if w.New {
			s.since[w.Lease] = time.Time{}
		}
	}
}

func (s *away) ReadWhole(ctx context.Context, _ bool) (*store.Whole, error) {
	at := time.Now()
	all, err := s.List(ctx, store.Query{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = at.Add(-1)
	return &store.Whole{Records: all, At: at, Leases: true}, err
}

type awayLease struct {
	store.Lease
	since time.Time
}

func (l *awayLease) UnheldSince() time.Time { return l.since }

func (l *awayLease) Release(ctx context.Context) error {
	<-time.After(trip)
	return l.Lease.Release(ctx)
}

// TestRoundTripsToAFarStore counts the requests to a store that wait for one another.
func TestRoundTripsToAFarStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		process := func() *lcm.Engine {
			return w.over(t, func(s encodedStore) store.Store {
				portable, ok := s.(store.Portable)
				require.True(t, ok)
				return store.KeepRecent(&away{Portable: portable, since: map[string]time.Time{}})
			})
		}
		costs := func(what string, want int, do func() error) {
			t.Helper()
			began := time.Now()
			require.NoError(t, do(), what)
			assert.Equal(t, want, int(time.Since(began)/trip), what)
		}
		spec, e := w.spec(), process()
		ctx := t.Context()
		var id string
		costs("the plan of a new instance", 1, func() error {
			_, _, err := e.PreviewInstance(ctx, "", spec)
			return err
		})
		costs("its creation in the same process", 7, func() error {
			i, err := e.Instantiate(ctx, spec)
			id = i.ID
			return err
		})
		e = process()
		costs("a plan", 1, func() error {
			_, _, err := e.PreviewInstance(ctx, id, spec)
			return err
		})
		spec.LevelID = "large"
		e = process()
		costs("a change in another process", 6, func() error {
			_, err := e.Update(ctx, id, spec)
			return err
		})
		e = process()
		costs("a termination", 7, func() error { return e.Terminate(ctx, id, vnfm.TerminateSpec{}) })
		costs("the removal of the VIM", 4, func() error { return e.DeregisterVIM(ctx, w.vimID) })
	})
}
