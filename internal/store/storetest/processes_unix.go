//go:build !windows

package storetest

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// testProcessStopped stops a holder for so long that somebody else gets the lease.
// When it goes on, it must learn that.
func testProcessStopped(t *testing.T, b Backend) {
	address := b.New(t)
	c := start(t, address, "hold")
	if !c.out.Scan() {
		t.Fatal("the child process ended")
	}
	s := b.open(t, address, 1)[0]
	create(t, s, store.Record{Kind: store.KindVIM, ID: "counter", Data: []byte("0")})
	wantHeld(t, s, strings.TrimPrefix(c.out.Text(), "held by "))
	must(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	l := acquireWithin(t, b, s, time.Now())
	must(t, increment(store.Under(t.Context(), l.Fence()), s))
	must(t, c.cmd.Process.Signal(syscall.SIGCONT))
	c.hear(t, "lost")
	c.hear(t, "refused")
	c.wait(t)
	same(t, "counter", string(get(t, s, store.KindVIM, "counter").Data), "1")
	// The release by the old holder did not affect the new lease.
	wantHeld(t, s, process.Name())
	if isLost(l) {
		t.Error("the new holder lost the lease to the old one")
	}
	must(t, l.Release(t.Context()))
}
