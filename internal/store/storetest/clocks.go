package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// testClocks has machines whose clocks differ by an hour. A holder that lives keeps its lease
// whatever the others' clocks say, and one that dies loses it in the usual time.
func testClocks(t *testing.T, b Backend) {
	if b.OpenAt == nil {
		t.Skip("this store is on one machine, with one clock")
	}
	for name, ahead := range map[string]time.Duration{"an hour ahead": time.Hour, "an hour behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := b.New(t)
			right := b.open(t, address, 1)[0]
			wrong, err := b.OpenAt(t.Context(), address, func() time.Time { return time.Now().Add(ahead) })
			must(t, err)
			t.Cleanup(func() {
				if err := wrong.Close(); err != nil {
					t.Error(err)
				}
			})

			// Each holds a lease that the other one asks for.
			asked := map[string]store.Store{"of the right clock": wrong, "of the wrong clock": right}
			held := map[string]store.Lease{}
			for name, own := range map[string]store.Store{"of the right clock": right, "of the wrong clock": wrong} {
				l, err := own.Acquire(t.Context(), name, "the first")
				must(t, err)
				held[name] = l
			}
			for range 5 {
				_ = poll.Sleep(t.Context(), b.Lease/4)
				for name, other := range asked {
					if _, err := other.Acquire(t.Context(), name, "another one"); !errors.As(err, new(*store.HeldError)) {
						t.Fatalf("acquiring the lease %s, whose holder lives = %v, want a HeldError", name, err)
					}
				}
			}
			for name, other := range asked {
				if isLost(held[name]) {
					t.Errorf("the lease %s is lost", name)
				}
				must(t, held[name].Release(t.Context()))
				must(t, acquire(t, other, name).Release(t.Context()))
			}

			c := start(t, address, "hold unknown")
			c.hear(t, "held by somebody elsewhere")
			if _, err := wrong.Acquire(t.Context(), "a", "another one"); !errors.As(err, new(*store.HeldError)) {
				t.Fatalf("acquiring the lease of another process, which lives = %v, want a HeldError", err)
			}
			c.kill(t)
			must(t, acquireWithin(t, b, wrong, time.Now()).Release(t.Context()))
		})
	}
}
