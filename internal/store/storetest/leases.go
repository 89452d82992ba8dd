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

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func acquire(t *testing.T, s store.Store, name string) store.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), name, store.Holder())
	if err != nil {
		t.Fatalf("acquiring %q: %v", name, err)
	}
	return l
}

func wantHeld(t *testing.T, s store.Store, holder string) {
	t.Helper()
	const name = "a"
	l, err := s.Acquire(t.Context(), name, store.Holder())
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
}

func isLost(l store.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

// wait waits for d or the end of the test.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

func testLease(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	l := acquire(t, handles[0], "a")
	for i, s := range handles {
		t.Run(fmt.Sprint("exclusive for handle ", i), func(t *testing.T) { wantHeld(t, s, store.Holder()) })
	}
	must(t, acquire(t, handles[1], "b /:'\"% ü").Release(t.Context()))
	must(t, l.Release(t.Context()))
	must(t, l.Release(t.Context()))
	if isLost(l) {
		t.Error("a released lease is lost")
	}

	next := acquire(t, handles[1], "a")
	must(t, l.Release(t.Context()))
	wantHeld(t, handles[0], store.Holder())
	must(t, next.Release(t.Context()))
	must(t, acquire(t, handles[0], "a").Release(t.Context()))

	for _, bad := range [][2]string{{"", store.Holder()}, {"a", ""}} {
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
		wait(t, b.Lease/4)
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
	must(t, acquire(t, b.open(t, address, 1)[0], "a").Release(t.Context()))
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
					wait(t, 2*time.Millisecond)
					continue
				}
				if err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				wait(t, time.Millisecond)
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
