package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func acquire(t *testing.T, s store.Store, name string) store.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), name, process.Name())
	if err != nil {
		t.Fatalf("acquiring %q: %v", name, err)
	}
	return l
}

func wantHeld(t *testing.T, s store.Store, holder string) {
	t.Helper()
	const name = "a"
	l, err := s.Acquire(t.Context(), name, process.Name())
	if err == nil {
		must(t, l.Release(t.Context()))
		t.Fatalf("acquired %q, which %s holds", name, holder)
	}
	held, ok := errors.AsType[*store.HeldError](err)
	if !ok {
		t.Fatalf("acquiring %q, which %s holds = %v, want a HeldError", name, holder, err)
	}
	if held.Name != name || held.Holder != holder || time.Since(held.Since).Abs() > time.Hour {
		t.Errorf("HeldError = %+v, want name %q and holder %q", held, name, holder)
	}
	if time.Since(held.Renewed).Abs() > 2*time.Hour || time.Until(held.Expires).Abs() > 2*time.Hour {
		t.Errorf("HeldError = %+v, want when it was renewed and when it expires", held)
	}
}

func isLost(l store.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

func testLease(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	l := acquire(t, handles[0], "a")
	same(t, "TakenOver of a lease that nobody had", l.TakenOver(), false)
	for i, s := range handles {
		t.Run(fmt.Sprint("exclusive for handle ", i), func(t *testing.T) { wantHeld(t, s, process.Name()) })
	}
	must(t, acquire(t, handles[1], "b /:'\"% ü").Release(t.Context()))
	must(t, l.Release(t.Context()))
	must(t, l.Release(t.Context()))
	if isLost(l) {
		t.Error("a released lease is lost")
	}

	next := acquire(t, handles[1], "a")
	same(t, "TakenOver of a lease that was given back", next.TakenOver(), false)
	must(t, l.Release(t.Context()))
	wantHeld(t, handles[0], process.Name())
	must(t, next.Release(t.Context()))
	must(t, acquire(t, handles[0], "a").Release(t.Context()))

	for _, bad := range [][2]string{{"", process.Name()}, {"a", ""}} {
		if _, err := handles[0].Acquire(t.Context(), bad[0], bad[1]); err == nil {
			t.Errorf("Acquire took the name %q and the holder %q", bad[0], bad[1])
		}
	}
}

// testLeaseRenewed holds a lease for longer than it lives without renewal, and after
// the end of the context that it was acquired with.
func testLeaseRenewed(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := handles[0].Acquire(ctx, "a", "somebody elsewhere")
	must(t, err)
	cancel()
	for range 6 {
		_ = poll.Sleep(t.Context(), b.Lease/4)
		wantHeld(t, handles[1], "somebody elsewhere")
	}
	if isLost(l) {
		t.Error("a lease that nobody took is lost")
	}
	must(t, l.Release(t.Context()))
}

func testLeaseClosed(t *testing.T, b Backend) {
	address := b.New(t)
	s, err := b.Open(t.Context(), address)
	must(t, err)
	l := acquire(t, s, "a")
	must(t, s.Close())
	if !isLost(l) {
		t.Error("a lease outlives its handle")
	}
	next := acquire(t, b.open(t, address, 1)[0], "a")
	same(t, "TakenOver of a lease of a handle that was closed", next.TakenOver(), false)
	must(t, next.Release(t.Context()))
	must(t, l.Release(t.Context()))
}

func testLeaseReleaseCancelled(t *testing.T, b Backend) {
	s := b.one(t)
	l := acquire(t, s, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, l.Release(ctx))
	must(t, acquire(t, s, "a").Release(t.Context()))
}

// testFence writes under a lease that somebody else has had since: everything is refused,
// and nothing changes.
func testFence(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	first := acquire(t, handles[0], "a")
	ctx := store.Under(t.Context(), first.Fence())
	r := create(t, handles[0], sampleRecord("a"))
	r.Data = []byte("written by the first holder")
	must(t, handles[0].Update(ctx, &r))
	must(t, handles[0].Create(ctx, &store.Record{Kind: store.KindOperation, ID: "gone"}))
	must(t, handles[0].Delete(ctx, store.KindOperation, "gone"))
	for _, content := range []string{"gone", "a content"} {
		must(t, handles[0].PutBlob(t.Context(), digestOf(content), reader(content)))
	}
	must(t, handles[0].DeleteBlob(ctx, digestOf("gone")))
	must(t, handles[0].DeleteBlob(ctx, digestOf("gone")))
	wantNoBlob(t, handles[1], digestOf("gone"))
	must(t, first.Release(t.Context()))
	// Nobody has had it since.
	must(t, handles[0].Update(ctx, &r))

	second, err := handles[1].Acquire(t.Context(), "a", "somebody elsewhere")
	must(t, err)
	if second.Fence().Token <= first.Fence().Token {
		t.Errorf("tokens %d and then %d", first.Fence().Token, second.Fence().Token)
	}
	theirs := *get(t, handles[1], r.Kind, "a")
	theirs.Data = []byte("written by the second holder")
	must(t, handles[1].Update(store.Under(t.Context(), second.Fence()), &theirs))

	other := acquire(t, handles[0], "b")
	for _, released := range []bool{false, true} {
		if released {
			must(t, second.Release(t.Context()))
		}
		mine := *get(t, handles[0], r.Kind, "a")
		mine.Data = []byte("written too late")
		for what, ctx := range map[string]context.Context{
			"the lost lease":                    ctx,
			"the lost lease and one that holds": store.Under(ctx, other.Fence()),
			"one that holds and the lost lease": store.Under(store.Under(t.Context(), other.Fence()), first.Fence()),
		} {
			for does, err := range map[string]error{
				"Update": handles[0].Update(ctx, &mine),
				"Create": handles[0].Create(ctx, &store.Record{Kind: store.KindOperation, ID: "new"}),
				"Delete": handles[0].Delete(ctx, r.Kind, "a"),

				"DeleteBlob": handles[0].DeleteBlob(ctx, digestOf("a content")),
			} {
				lost, ok := errors.AsType[*vnfm.LeaseLostError](err)
				if !ok || lost.Object != "a" || lost.Holder != "somebody elsewhere" {
					t.Errorf("%s under %s = %v, want a LeaseLostError that names lease and holder", does, what, err)
				}
			}
		}
		same(t, "record", get(t, handles[0], r.Kind, "a"), &theirs)
		wantBlob(t, handles[0], "a content")
		if _, err := handles[0].Get(t.Context(), store.KindOperation, "new"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get of a record that was refused = %v, want ErrNotFound", err)
		}
	}
	ctx = store.Under(t.Context(), store.Fence{Lease: "never taken", Token: 1})
	if err := handles[0].Create(ctx, &store.Record{Kind: store.KindOperation, ID: "new"}); !errors.As(err, new(*vnfm.LeaseLostError)) {
		t.Errorf("Create under a lease that nobody has taken = %v, want a LeaseLostError", err)
	}
	must(t, other.Release(t.Context()))
}

func testConcurrentLeases(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 4)
	var holders, turns atomic.Int32
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for turn := 0; turn < 2; {
				l, err := handles[w%len(handles)].Acquire(t.Context(), "a", fmt.Sprintf("worker %d", w))
				if held, ok := errors.AsType[*store.HeldError](err); ok {
					if !strings.HasPrefix(held.Holder, "worker ") {
						t.Errorf("holder = %q", held.Holder)
					}
					_ = poll.Sleep(t.Context(), 2*time.Millisecond)
					continue
				}
				if err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				_ = poll.Sleep(t.Context(), time.Millisecond)
				holders.Add(-1)
				turn++
				turns.Add(1)
				if err := l.Release(t.Context()); err != nil {
					t.Errorf("worker %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	same(t, "turns", turns.Load(), int32(32))
}
