package kubernetes

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAWholeStore reads a store as a whole, and takes leases as they were seen before.
func TestAWholeStore(t *testing.T) {
	t.Parallel()
	g := newGateway(t, adminSite(t, labtest.Kubernetes(t)))
	times := quick()
	times.lease, times.renew = time.Minute, 20*time.Second
	s, other := g.handle(t, times), g.handle(t, times)
	a, b := sample("a"), sample("b")
	b.Key = "another key"
	must(t, other.Create(t.Context(), &a))
	must(t, other.Create(t.Context(), &b))
	acquire := func(from *kubeStore, name string) *lease {
		l, err := from.Acquire(t.Context(), name, "x")
		must(t, err)
		return l.(*lease) //nolint:forcetypeassert,errcheck // It has no other one.
	}
	for _, name := range []string{"given back", "had by another one"} {
		must(t, acquire(other, name).Release(t.Context()))
	}
	held := acquire(other, "held")
	whole, err := s.ReadWhole(t.Context(), true)
	must(t, err)
	if len(whole.Records) != 2 || whole.Records[0].ID != a.ID || string(whole.Records[1].Data) != string(b.Data) || !whole.Leases {
		t.Errorf("the whole store: %+v", whole)
	}
	must(t, acquire(other, "had by another one").Release(t.Context()))
	must(t, held.Release(t.Context()))
	s.ReadAhead(t.Context(), store.Wanted{Lease: "a new one", New: true})
	for _, c := range []struct {
		name        string
		undisturbed bool
		want        string
	}{
		{"given back", true, "PUT leases"},
		{"never had", true, "POST leases"},
		{"a new one", true, "POST leases"},
		{"had by another one", false, "PUT leases, GET leases, PUT leases"},
		{"held", false, "GET leases, PUT leases"},
	} {
		g.take()
		l := acquire(s, c.name)
		require.Equal(t, c.want, strings.Join(g.take(), ", "), "the lease %q", c.name)
		require.Equal(t, c.undisturbed, whole.At.After(l.UnheldSince()), "nobody has had the lease %q since it was seen", c.name)
		must(t, l.Release(t.Context()))
		require.True(t, acquire(s, c.name).UnheldSince().Equal(l.UnheldSince()), "the lease %q that was taken again", c.name)
	}
	_, err = s.list(t.Context(), store.Query{}, 1)
	require.ErrorContains(t, err, "more objects", "a list of more than one record")
}
