package storetest

import (
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
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

			for _, holder := range []string{"the right clock", "the wrong clock"} {
				own, other := right, wrong
				if holder == "the wrong clock" {
					own, other = wrong, right
				}
				l, err := own.Acquire(t.Context(), "a", holder)
				must(t, err)
				for range 5 {
					_ = poll.Sleep(t.Context(), b.Lease/4)
					if _, err := other.Acquire(t.Context(), "a", "another one"); err == nil {
						t.Fatalf("the lease of a holder with %s was taken while it lives", holder)
					}
				}
				if isLost(l) {
					t.Errorf("the lease of a holder with %s is lost", holder)
				}
				must(t, l.Release(t.Context()))
				must(t, acquire(t, other, "a").Release(t.Context()))
			}

			c := start(t, address, "hold unknown")
			c.hear(t, "held by somebody elsewhere")
			if _, err := wrong.Acquire(t.Context(), "a", "another one"); err == nil {
				t.Fatal("the lease of another process was taken while it lives")
			}
			c.kill(t)
			must(t, acquireWithin(t, b, wrong, time.Now()).Release(t.Context()))
		})
	}
}
