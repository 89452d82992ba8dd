package kubernetes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLateWrites stops a holder after it has made sure of its lease and before its last request
// arrives, for so long that another one takes the lease: the request changes nothing.
func TestLateWrites(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	env := labtest.Kubernetes(t)
	blob := strings.Repeat("a content", 1000)
	digest := store.Digest([]byte(blob))
	record := recordName(store.KindInstance, "a")
	for name, test := range map[string]struct {
		// method and name are those of the request that is late.
		method, name string
		// marked says that the record was written under the lease before.
		marked bool
		write  func(ctx context.Context, s *kubeStore) error
	}{
		"update": {"PUT", record, true, updateSample},
		// The lease is not on the record yet: the write that puts it there may be late.
		"first update":         {"PUT", record, false, updateSample},
		"mark of first update": {"PATCH", record, false, updateSample},
		"delete":               {"DELETE", record, true, func(ctx context.Context, s *kubeStore) error { return s.Delete(ctx, store.KindInstance, "a") }},
		"first delete":         {"DELETE", record, false, func(ctx context.Context, s *kubeStore) error { return s.Delete(ctx, store.KindInstance, "a") }},
		"create": {"PUT", recordName(store.KindOperation, "new"), false, func(ctx context.Context, s *kubeStore) error {
			return s.Create(ctx, &store.Record{Kind: store.KindOperation, ID: "new", Key: "new"})
		}},
		"begin of create": {"POST", "secrets", false, func(ctx context.Context, s *kubeStore) error {
			return s.Create(ctx, &store.Record{Kind: store.KindOperation, ID: "new"})
		}},
		"delete of a content": {"DELETE", "vnf-store-content-", false, func(ctx context.Context, s *kubeStore) error { return s.DeleteBlob(ctx, digest) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := adminSite(t, env)
			g := newGateway(t, place)
			times := quick()
			times.lease, times.renew = 2*time.Second, 500*time.Millisecond
			holder, other := g.handle(t, times), place.handle(t, times)
			first, err := holder.Acquire(t.Context(), "a", "somebody elsewhere")
			must(t, err)
			ctx := store.Under(t.Context(), first.Fence())
			r := sample("a")
			must(t, holder.Create(t.Context(), &r))
			if test.marked {
				must(t, holder.Update(ctx, &r))
			}
			must(t, holder.PutBlob(t.Context(), digest, strings.NewReader(blob)))

			stopped, goOn := g.stopAt(test.method, test.name)
			late := make(chan error, 1)
			go func() { late <- test.write(ctx, holder) }()
			select {
			case <-stopped:
			case err := <-late:
				t.Fatalf("the request was never sent: %v", err)
			}
			// It renews no more, as a process that is stopped.
			for _, l := range holder.leases.All() {
				l.Stop()
			}
			second := takeOver(t, other, "a")
			before := *get(t, other, store.KindInstance, "a")
			goOn()
			require.ErrorAs(t, <-late, new(*vnfm.LeaseLostError), "the late write")
			same(t, "record", get(t, other, store.KindInstance, "a"), &before)
			_, err = other.Get(t.Context(), store.KindOperation, "new")
			require.ErrorIs(t, err, store.ErrNotFound, "the record that was to be created")
			_, err = other.OpenBlob(t.Context(), digest)
			require.NoError(t, err, "the content")
			// Leftovers block nobody.
			ctx = store.Under(t.Context(), second.Fence())
			must(t, updateSample(ctx, other))
			must(t, other.Create(ctx, &store.Record{Kind: store.KindOperation, ID: "new", Key: "new"}))
		})
	}
}

func updateSample(ctx context.Context, s *kubeStore) error {
	r, err := s.Get(ctx, store.KindInstance, "a")
	if err != nil {
		return err
	}
	r.Data = []byte("another text")
	return s.Update(ctx, r)
}

func get(t *testing.T, s *kubeStore, kind store.Kind, id string) *store.Record {
	t.Helper()
	r, err := s.Get(t.Context(), kind, id)
	must(t, err)
	return r
}

// takeOver acquires a lease, waiting for its holder to lose it.
func takeOver(t *testing.T, s *kubeStore, name string) store.Lease {
	t.Helper()
	var l store.Lease
	err := vnfm.RetryWhileBusy(vnfm.WithLockTimeout(t.Context(), time.Minute), func() (err error) {
		l, err = s.Acquire(t.Context(), name, process.Name())
		if errors.As(err, new(*store.HeldError)) {
			err = &vnfm.BusyError{Object: name}
		}
		return err
	})
	must(t, err)
	return l
}

// TestReleaseDuringWrite gives a lease back while a write under it is on its way: the next
// holder must not believe that all writes have ended.
func TestReleaseDuringWrite(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	g := newGateway(t, place)
	holder, other := g.handle(t, quick()), place.handle(t, quick())
	first, err := holder.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	ctx := store.Under(t.Context(), first.Fence())
	r := sample("a")
	must(t, holder.Create(ctx, &r))
	stopped, goOn := g.stopAt("PUT", recordName(r.Kind, "a"))
	late := make(chan error, 1)
	go func() { late <- updateSample(ctx, holder) }()
	<-stopped
	must(t, first.Release(t.Context()))
	second, err := other.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	goOn()
	require.ErrorAs(t, <-late, new(*vnfm.LeaseLostError), "the late write")
	same(t, "record", get(t, other, r.Kind, "a"), &r)

	// One that begins after the lease was given back is allowed while nobody has it, and
	// marks it.
	must(t, second.Release(t.Context()))
	ctx = store.Under(t.Context(), second.Fence())
	stopped, goOn = g.stopAt("PUT", recordName(r.Kind, "a"))
	go func() { late <- updateSample(ctx, holder) }()
	<-stopped
	third, err := other.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	goOn()
	require.ErrorAs(t, <-late, new(*vnfm.LeaseLostError), "the write after the release")
	same(t, "record", get(t, other, r.Kind, "a"), &r)
	must(t, third.Release(t.Context()))

	// One that has begun and looks at the record only after somebody else has the lease.
	last, err := holder.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	ctx = store.Under(t.Context(), last.Fence())
	holder.forget(recordName(r.Kind, "a"))
	stopped, goOn = g.stopAt("GET", recordName(r.Kind, "a"))
	go func() { late <- holder.Delete(ctx, r.Kind, "a") }()
	<-stopped
	must(t, last.Release(t.Context()))
	next, err := other.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	goOn()
	require.ErrorAs(t, <-late, new(*vnfm.LeaseLostError), "the deletion that began before the release")
	same(t, "record", get(t, other, r.Kind, "a"), &r)
	must(t, next.Release(t.Context()))
}
