package sqlite

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestClockSteps sets the clock of the machine while a lease is held.
func TestClockSteps(t *testing.T) {
	brief := timing{lease: 4 * time.Second, renew: 400 * time.Millisecond, busy: 30 * time.Second}
	for name, test := range map[string]struct {
		step time.Duration
		// stops says that the holder is stopped at that time, taken that the lease goes.
		stops, taken bool
	}{
		"back, and the holder lives":        {-time.Hour, false, false},
		"back, and the holder stops":        {-time.Hour, true, true},
		"on, and the lease is asked for":    {time.Hour, true, true},
		"a little on, and the holder lives": {time.Second, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			var ahead atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
			holder, other := openAt(t, path, brief), openAt(t, path, brief)
			holder.clock, other.clock = clock, clock
			held, err := holder.Acquire(t.Context(), "a", "somebody on another machine")
			require.NoError(t, err)
			if test.stops {
				l, ok := held.(*lease)
				require.True(t, ok, held)
				l.Stop()
			}
			ahead.Store(int64(test.step))
			var taken store.Lease
			patience := 3 * brief.lease / 2
			if test.taken {
				// A slow machine makes it slow; a lease that lives for an hour never comes.
				patience = time.Minute
			}
			err = vnfm.RetryWhileBusy(vnfm.WithLockTimeout(t.Context(), patience), func() (err error) {
				taken, err = other.Acquire(t.Context(), "a", "another one")
				if errors.As(err, new(*store.HeldError)) {
					err = &vnfm.BusyError{Object: "a"}
				}
				return err
			})
			if err != nil && !errors.As(err, new(*vnfm.BusyError)) {
				t.Fatal(err)
			}
			require.Equal(t, test.taken, taken != nil, "taken by another one")
			ahead.Store(0)
			err = holder.Create(store.Under(t.Context(), held.Fence()), &store.Record{Kind: store.KindVIM, ID: "late"})
			if lost := errors.As(err, new(*vnfm.LeaseLostError)); lost != test.taken || (err != nil && !lost) {
				t.Errorf("a write of the first holder: %v", err)
			}
		})
	}
}
