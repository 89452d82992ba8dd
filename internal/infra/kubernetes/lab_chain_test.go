package kubernetes

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabChains holds how many requests wait for each other, one after the other: where the API server is far away, that is how long
// an operation takes. Each is led by a driver that knows nothing yet, as by a process of its own.
func TestLabChains(t *testing.T) {
	t.Parallel()
	files, vdus := sizedManifests(20, "1")
	vdu := slices.Sorted(maps.Keys(vdus))[0]
	l := newLab(t, files, vdus)
	l.target.DigestKey = []byte("key")
	l.target.Arguments = func(context.Context) ([]byte, error) {
		return []byte("arguments of " + l.target.Package.ID + string(rune('0'+l.target.Counts[vdu]))), nil
	}
	within := func(what string, bar int, work func() error) {
		t.Helper()
		l.driver = New(kube.NewPool("terraform-provider-vnf/test"))
		l.meter.take()
		l.meter.far.Store(true)
		err := work()
		l.meter.far.Store(false)
		require.NoError(t, err, what)
		got, requests := l.meter.chain.Take(), l.meter.take()
		t.Logf("%s: %d", what, got)
		assert.LessOrEqual(t, got, bar, "%s: %d requests wait for each other, want %d at most:\n%s", what, got, bar, requests)
	}
	within("check of the VIM", 1, func() error {
		_, err := l.driver.CheckVIM(l.ctx, vnfm.VIMSpec{Name: "lab", Kubernetes: l.target.VIM.Kubernetes, Credentials: l.target.Credentials})
		return err
	})
	// Discovery and the Lease; lists; two or three rounds of writes, with the watch of the Deployments; the Lease.
	within("first apply", 6, func() error { return l.driver.Apply(l.ctx, l.target, l.recorder) })
	// Discovery; lists.
	within("observation", 2, func() error { _, err := l.driver.Observe(l.ctx, l.target); return err })
	// Discovery and the Lease; the workloads; the count, which is watched; the Lease.
	l.target.Counts[vdu] = 2
	within("scale", 4, func() error { return l.driver.Scale(l.ctx, l.target, l.recorder) })
	within("heal", 4, func() error {
		return l.driver.Heal(l.ctx, l.target, vnfm.HealSpec{ID: "1", VDUIDs: []string{vdu}}, l.recorder)
	})
	// Discovery and the Lease; lists; configuration; the Deployment, which is watched; the Lease.
	changed, _ := sizedManifests(20, "2")
	l.setFiles("2", changed)
	within("change", 5, func() error { return l.driver.Apply(l.ctx, l.target, l.recorder) })
	// Discovery and the Lease; lists; workloads; their pods, which are watched meanwhile; all else; the Lease.
	within("termination", 6, func() error {
		return l.driver.Terminate(l.ctx, l.target, vnfm.TerminateSpec{Type: vnfm.Graceful}, l.recorder)
	})
}
