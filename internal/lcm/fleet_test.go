package lcm_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// listing counts how often all instances are read.
type listing struct {
	encodedStore
	instances *atomic.Int64
}

func (s listing) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	if q == (store.Query{Kind: store.KindInstance}) {
		s.instances.Add(1)
	}
	return s.encodedStore.List(ctx, q)
}

// TestFleetChangesItsPackage: the package before goes with the last of many instances that ran it, and all instances are
// not read after the update of each.
func TestFleetChangesItsPackage(t *testing.T) {
	t.Parallel()
	const fleet = 40
	w := newEnv(t)
	var lists atomic.Int64
	e := w.over(t, func(s encodedStore) store.Store { return listing{encodedStore: s, instances: &lists} })

	var specs [fleet]vnfm.InstanceSpec
	var ids [fleet]string
	for n := range specs {
		specs[n] = w.spec()
		specs[n].Name, specs[n].Namespace = fmt.Sprintf("core-%d", n), fmt.Sprintf("core-%d", n)
		i, err := e.Instantiate(t.Context(), specs[n])
		require.NoError(t, err)
		ids[n] = i.ID
	}
	old, next := w.pkg.ID, w.onboard(t, "2.0").ID
	require.NoError(t, e.ReleasePackage(t.Context(), old, ""))
	lists.Store(0)
	for n := range specs {
		_, err := e.Package(t.Context(), old)
		require.NoError(t, err, "%d instances run it", fleet-n)
		specs[n].PackageID = next
		_, err = e.Update(t.Context(), ids[n], specs[n])
		require.NoError(t, err)
	}
	_, err := e.Package(t.Context(), old)
	require.ErrorIs(t, err, vnfm.ErrNotFound, "the package before")
	// As often as a random order has a new maximum: 4 times on average, and 20 times once in some ten million runs.
	require.Less(t, lists.Load(), int64(fleet/2), "all instances were read")
	t.Logf("%d updates, all instances were read %d times", fleet, lists.Load())
}

// acquiring counts how often the lease of the references is taken, which takes a while.
type acquiring struct {
	encodedStore
	references *atomic.Int64
}

func (s acquiring) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	if name == "references" {
		s.references.Add(1)
		if err := poll.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return s.encodedStore.Acquire(ctx, name, holder)
}

// TestFleetSharesReferences: instances that are made at the same time hand on the lease of the references, and the last one gives it back.
func TestFleetSharesReferences(t *testing.T) {
	t.Parallel()
	const fleet = 20
	w := newEnv(t)
	var taken atomic.Int64
	e := w.over(t, func(s encodedStore) store.Store { return acquiring{encodedStore: s, references: &taken} })
	group, ctx := errgroup.WithContext(t.Context())
	for n := range fleet {
		spec := w.spec()
		spec.Name, spec.Namespace = fmt.Sprintf("core-%d", n), fmt.Sprintf("core-%d", n)
		group.Go(func() error {
			_, err := e.Instantiate(ctx, spec)
			return err
		})
	}
	// A caller that does not wait for its turn does not keep the lease from others.
	impatient, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	_, _ = e.Instantiate(impatient, w.spec())
	require.NoError(t, group.Wait())
	require.Less(t, taken.Load(), int64(fleet/2), "the lease was taken")

	other := opened(t, w.dir)
	require.Eventually(t, func() bool {
		lease, err := other.Acquire(t.Context(), "references", process.Name())
		return err == nil && lease.Release(t.Context()) == nil
	}, 10*time.Second, 10*time.Millisecond, "nobody gave the lease back")
}
