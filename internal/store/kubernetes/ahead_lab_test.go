package kubernetes

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestRequestsAhead counts what is left to be asked for when it was looked at ahead, and when it was made for the leases under which it is
// written. What has changed since is looked at again.
func TestRequestsAhead(t *testing.T) {
	t.Parallel()
	g := newGateway(t, adminSite(t, labtest.Kubernetes(t)))
	times := quick()
	times.lease, times.renew = time.Minute, 20*time.Second
	s, other := g.handle(t, times), g.handle(t, times)
	const content = "content"
	digest := store.Digest([]byte(content))
	ctx := store.Foreseeing(t.Context(), "later")
	r := sample("a")
	r.Key = ""
	must(t, s.Create(ctx, &r))
	put := func(from *kubeStore) { must(t, from.PutBlob(ctx, digest, strings.NewReader(content))) }
	put(s)
	acquire := func(from *kubeStore, name string) store.Lease {
		l, err := from.Acquire(t.Context(), name, "x")
		must(t, err)
		return l
	}
	must(t, acquire(other, "given").Release(t.Context()))
	costs := func(what string, do func(), want string) {
		t.Helper()
		g.take()
		do()
		require.Equal(t, want, strings.Join(g.take(), ", "), "%s costs", what)
	}
	ahead := func(wanted store.Wanted, object string) {
		s.ReadAhead(t.Context(), wanted)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.awaitLook(t.Context(), object)
	}
	lookAt := func(lease string) { ahead(store.Wanted{Lease: lease}, s.leaseRef(lease).Name) }
	lookAtContent := func() { ahead(store.Wanted{Content: digest}, s.contentRef(digest).Name) }

	costs("a look at a lease that nobody had", func() { lookAt("later") }, "GET leases")
	var l store.Lease
	costs("to take it", func() { l = acquire(s, "later") }, "POST leases")
	costs("a look at a lease that was given back", func() { lookAt("given") }, "GET leases")
	costs("to take that", func() { must(t, acquire(s, "given").Release(t.Context())) }, "PUT leases, PUT leases")
	costs("a new lease", func() {
		s.ReadAhead(t.Context(), store.Wanted{Lease: "new", New: true})
		acquire(s, "new")
	}, "POST leases")
	costs("a look at a lease that another handle takes then", func() {
		lookAt("another")
		must(t, acquire(other, "another").Release(t.Context()))
		acquire(s, "another")
	}, "GET leases, GET leases, POST leases, PUT leases, POST leases, GET leases, PUT leases")

	under := store.Under(t.Context(), l.Fence())
	costs("an update that was foreseen", func() { must(t, s.Update(under, &r)) }, "PUT secrets")
	costs("a look at a content", lookAtContent, "GET secrets")
	costs("to delete it", func() { must(t, s.DeleteBlob(under, digest)) }, "DELETE secrets")
	put(s)
	lookAtContent()
	must(t, other.DeleteBlob(t.Context(), digest))
	put(other)
	costs("to delete it when it is another one", func() { must(t, s.DeleteBlob(under, digest)) }, "DELETE secrets, GET secrets, GET leases, DELETE secrets")
}
