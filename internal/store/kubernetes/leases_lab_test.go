package kubernetes

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestClocksApart has the clock of a holder an hour away from that of another machine.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	for name, test := range map[string]struct {
		ahead time.Duration
		// stops says that the holder dies.
		stops bool
	}{
		"ahead, and the holder lives":  {time.Hour, false},
		"ahead, and the holder dies":   {time.Hour, true},
		"behind, and the holder lives": {-time.Hour, false},
		"behind, and the holder dies":  {-time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := adminSite(t, env)
			holder, other := place.handle(t, quick()), place.handle(t, quick())
			holder.clock = func() time.Time { return time.Now().Add(test.ahead) }
			held, err := holder.Acquire(t.Context(), "a", "somebody elsewhere")
			must(t, err)
			if test.stops {
				for _, l := range holder.leases.All() {
					l.Stop()
				}
			}
			begun := time.Now()
			taken, err := other.Acquire(t.Context(), "a", "another one")
			took := time.Since(begun)
			if !test.stops {
				require.ErrorAs(t, err, new(*store.HeldError), "Acquire")
				return
			}
			must(t, err)
			require.GreaterOrEqual(t, took, quick().lease, "the lease was taken after")
			require.Greater(t, taken.Fence().Token, held.Fence().Token, "tokens")
			err = holder.Create(store.Under(t.Context(), held.Fence()), &store.Record{Kind: store.KindVIM, ID: "late"})
			require.ErrorAs(t, err, new(*vnfm.LeaseLostError), "a write of the first holder")
		})
	}
}

// TestLeaseDeleted deletes the Lease of a holder, as somebody may who clears a namespace up:
// the holder learns of it, and the next token is a greater one.
func TestLeaseDeleted(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	s := place.handle(t, quick())
	first, err := s.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	env.Kubectl(t, "-n", place.Namespace, "delete", "lease", s.leaseRef("a").Name)
	<-first.Lost()
	second, err := s.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	require.Greater(t, second.Fence().Token, first.Fence().Token, "tokens")
	require.ErrorAs(t, s.Create(store.Under(t.Context(), first.Fence()), &store.Record{Kind: store.KindVIM, ID: "late"}), new(*vnfm.LeaseLostError), "a write of the first holder")
	must(t, first.Release(t.Context()))
	must(t, second.Release(t.Context()))
}

// TestServerAway has the API server away for longer than a lease lives: it is lost in time, and
// free again when the process has given it up although nobody could be told.
func TestServerAway(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	place := adminSite(t, env)
	g := newGateway(t, place)
	times := quick()
	times.release = 100 * time.Millisecond
	holder := g.handle(t, times)
	l, err := holder.Acquire(t.Context(), "a", process.Name())
	must(t, err)
	begun := time.Now()
	g.on(func(*http.Request) bool { return false }, nil)
	<-l.Lost()
	require.LessOrEqual(t, time.Since(begun), 2*quick().lease, "the loss was noticed after")
	require.Error(t, l.Release(t.Context()), "the lease was given back to a server that is away")
	g.on(nil, nil)
	next, err := place.handle(t, quick()).Acquire(t.Context(), "a", process.Name())
	must(t, err)
	must(t, next.Release(t.Context()))
}
