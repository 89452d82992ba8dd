package lcm

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// leasesAlone is a store of leases that notes what is done to them.
type leasesAlone struct {
	store.Store
	mu   sync.Mutex
	done []string
	// busy is set while somebody else has the lease.
	busy bool
}

func (s *leasesAlone) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, what)
}

func (s *leasesAlone) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.done)
}

func (s *leasesAlone) Acquire(context.Context, string, string) (store.Lease, error) {
	if s.busy {
		return nil, &store.HeldError{Name: "references"}
	}
	s.note("take")
	return loneLease{s}, nil
}

type loneLease struct{ s *leasesAlone }

func (loneLease) Fence() store.Fence    { return store.Fence{} }
func (loneLease) TakenOver() bool       { return false }
func (loneLease) Lost() <-chan struct{} { return nil }
func (loneLease) Unanswered() error     { return nil }
func (l loneLease) Release(context.Context) error {
	l.s.note("give back")
	return nil
}

// TestTheLeaseOfReferencesOfAFarStore: those of one call that follow each other at once share the lease, and it is given back before the call
// ends. Of a store that is near it is given back at once.
func TestTheLeaseOfReferencesOfAFarStore(t *testing.T) {
	t.Parallel()
	test := func(name string, do func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone, end func())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				below := &leasesAlone{}
				ctx, end := vnfm.WithBackground(t.Context())
				defer end()
				do(ctx, New(Config{}), store.KeepRecent(below), below, end)
			})
		})
	}
	use := func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone) {
		require.NoError(t, e.withReferences(ctx, s, func(context.Context) error {
			below.note("use")
			return nil
		}))
	}
	test("shared", func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone, end func()) {
		use(ctx, e, s, below)
		use(ctx, e, s, below)
		assert.Equal(t, []string{"take", "use", "use"}, below.noted())
		end()
		assert.Equal(t, []string{"take", "use", "use", "give back"}, below.noted())
	})
	test("not for long", func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone, _ func()) {
		use(ctx, e, s, below)
		<-time.After(referencesPause)
		synctest.Wait()
		use(ctx, e, s, below)
		assert.Equal(t, []string{"take", "use", "give back", "take", "use"}, below.noted())
	})
	test("taken ahead", func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone, end func()) {
		e.deciding.takeAhead(ctx, s)
		synctest.Wait()
		assert.Equal(t, []string{"take"}, below.noted())
		use(ctx, e, s, below)
		end()
		assert.Equal(t, []string{"take", "use", "give back"}, below.noted())
	})
	test("taken ahead in vain", func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone, end func()) {
		e.deciding.takeAhead(ctx, s)
		end()
		assert.Equal(t, []string{"take", "give back"}, below.noted())
	})
	test("somebody else has it", func(ctx context.Context, e *Engine, s store.Store, below *leasesAlone, _ func()) {
		below.busy = true
		e.deciding.takeAhead(ctx, s)
		synctest.Wait()
		below.busy = false
		use(ctx, e, s, below)
		assert.Equal(t, []string{"take", "use"}, below.noted())
	})
	test("near", func(ctx context.Context, e *Engine, _ store.Store, below *leasesAlone, _ func()) {
		e.deciding.takeAhead(ctx, below)
		use(ctx, e, below, below)
		assert.Equal(t, []string{"take", "use", "give back"}, below.noted())
	})
	test("nobody waits", func(_ context.Context, e *Engine, s store.Store, below *leasesAlone, _ func()) {
		use(context.Background(), e, s, below) //nolint:contextcheck // one of which nobody waits for the end
		assert.Equal(t, []string{"take", "use", "give back"}, below.noted())
	})
}
