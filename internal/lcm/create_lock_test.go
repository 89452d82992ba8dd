package lcm_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// meeting calls a function when somebody meets the holder of a lease.
type meeting struct {
	encodedStore
	met func()
}

func (s meeting) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	l, err := s.encodedStore.Acquire(ctx, name, holder)
	if errors.As(err, new(*store.HeldError)) {
		s.met()
	}
	return l, err
}

// TestACreateAfterAKillElsewhere creates what a process of another machine has created or was creating, and whose lease ends. It is
// continued, unless Terraform has it in its state.
func TestACreateAfterAKillElsewhere(t *testing.T) {
	w := newEnv(t)
	first, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	db := opened(t, w.dir)
	release := func(l store.Lease) error { return l.Release(t.Context()) }
	// create has the holder end when it was met so many times.
	create := func(limit time.Duration, times int32, end func(store.Lease) error) (*vnfm.Instance, error) {
		rec, err := db.Get(t.Context(), store.KindInstance, first.ID)
		require.NoError(t, err)
		lease, err := db.Acquire(t.Context(), "create/"+rec.Key, "pid=1 host=elsewhere")
		require.NoError(t, err)
		met, freed := make(chan struct{}), make(chan error, 1)
		meet := sync.OnceFunc(func() { close(met) })
		go func() {
			<-met
			freed <- end(lease)
		}()
		defer func() {
			meet()
			require.NoError(t, <-freed)
		}()
		var meetings atomic.Int32
		e := w.over(t, func(s encodedStore) store.Store {
			return meeting{s, func() {
				if meetings.Add(1) == times {
					meet()
				}
			}}
		})
		defer func() { require.NoError(t, e.Close()) }()
		return e.Instantiate(vnfm.WithLockTimeout(t.Context(), limit), w.spec())
	}
	_, err = create(0, 1, release)
	require.ErrorAs(t, err, new(*vnfm.ConflictError), "nothing tells that the process elsewhere has died")

	// Its lease expires, and is waited for beyond the lock timeout.
	tables, err := sql.Open("sqlite", filepath.Join(w.dir, "store.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	again, err := create(time.Millisecond, 3, func(l store.Lease) error {
		_, err := tables.ExecContext(t.Context(), "UPDATE leases SET expires_at = 1 WHERE name = ?", l.Fence().Lease)
		return err
	})
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)

	change := func(change func(*vnfm.Instance)) {
		rec, err := db.Get(t.Context(), store.KindInstance, first.ID)
		require.NoError(t, err)
		var instance vnfm.Instance
		require.NoError(t, json.Unmarshal(rec.Data, &instance))
		change(&instance)
		rec.Data, err = json.Marshal(instance)
		require.NoError(t, err)
		require.NoError(t, db.Update(t.Context(), rec))
	}
	change(func(i *vnfm.Instance) { i.Status = vnfm.StatusProcessing })
	_, err = create(0, 1, release)
	require.ErrorAs(t, err, new(*vnfm.BusyError), "it is being created")
	again, err = create(time.Minute, 1, release)
	require.NoError(t, err, "the creation of a killed process became")
	require.Equal(t, first.ID, again.ID, "the creation of a killed process became")
	_, err = create(time.Minute, 1, func(l store.Lease) error {
		change(func(i *vnfm.Instance) { i.Acknowledged = true })
		return release(l)
	})
	require.ErrorAs(t, err, new(*vnfm.ConflictError), "a process elsewhere was closed in order")
}
