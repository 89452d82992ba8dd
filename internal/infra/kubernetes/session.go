package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// session is one call of the driver for one instance.
type session struct {
	client     *kube.Client
	renderings *render.Renderings
	target     *vnfm.Target
	// recorder is nil for a call that only reads.
	recorder vnfm.Recorder
	// rendering is nil when the package was lost. Other sessions share it.
	rendering *render.Rendering
	// namespace receives namespaced objects that name none.
	namespace string
	workers   int
	// isNew is set when the inventory was empty at the beginning.
	isNew bool
	// unlock releases the Lease. It may be called twice.
	unlock func(ctx context.Context)

	// autoscalers are the foreign autoscalers of each listed namespace. autoscaled maps a workload to the foreign autoscaler that
	// sets its replicas.
	autoscalersMu sync.Mutex
	autoscalers   map[string][]autoscaler
	autoscaled    map[string]string
	// drifted are the drifted objects of the last observation, by key.
	drifted map[string]*live

	// hooks are the objects of the chart's hooks.
	hooks []*targetObject
	// ownsRelease is set when the chart's release belongs to the instance, according to its history.
	ownsRelease bool
	// requests are the objects of the target that are posted once. posted are the objects that were posted, by this call or according
	// to the inventory.
	requests []*targetObject
	posted   []vnfm.InventoryItem
	// dropped are fields that the API server did not store, ownerless are objects none of whose owners exists, and unexpanded are
	// claims whose size differs from their volume template.
	dropped, ownerless, unexpanded objectLines
	// adopted is the configuration that this call took over.
	adopted adoptedConfiguration
	// saved is the inventory as it was last saved.
	saved []vnfm.InventoryItem
	// beforeReady is called once by an apply, after all writes and before the wait for readiness. It is nil if unset.
	beforeReady func(ctx context.Context) error
}

// open renders the target and prepares the client.
func (d *Driver) open(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) (*session, error) {
	s, err := d.connect(t, r)
	if err != nil {
		return nil, err
	}
	made := d.renderings.Render
	if r != nil {
		made = d.renderings.Make
		if err := s.readRecorded(ctx); err != nil {
			return nil, err
		}
	}
	rendering, problems := made(ctx, s.target)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s.rendering = rendering
	rendering.Conceal(ctx)
	s.warn(madeAgain(problems))
	return s, nil
}

// connect prepares the client without rendering anything.
func (d *Driver) connect(t *vnfm.Target, r vnfm.Recorder) (*session, error) {
	if t.VIM == nil {
		return nil, fmt.Errorf("VNF instance %q has no VIM", t.Instance.Name)
	}
	client, err := d.clients.Client(t.VIM.Name, t.VIM.Kubernetes, t.Credentials)
	if err != nil {
		return nil, err
	}
	workers := t.Concurrency
	if workers <= 0 {
		workers = defaultConcurrency
	}
	return &session{
		client:     client,
		renderings: &d.renderings,
		target:     t,
		recorder:   r,
		namespace:  render.InstanceNamespace(t),
		workers:    workers,
		isNew:      len(t.Instance.Inventory) == 0,
		unlock:     func(context.Context) {},
	}, nil
}

// progress reports the current step of the call in one line.
func (s *session) progress(ctx context.Context, format string, args ...any) {
	if s.recorder != nil {
		s.recorder.Progress(ctx, fmt.Sprintf(format, args...))
	}
}

// releaseTimeout bounds the release of the Lease, interruptedTimeout the release after an interruption. A busy API server needs many
// seconds for a deletion, and a remaining Lease blocks other machines until it expires.
const (
	releaseTimeout     = 20 * time.Second
	interruptedTimeout = 2 * time.Second
)

// locked does work under the instance's Lease, which locks out processes on other machines. Without the right to create Leases, and
// while the namespace does not exist, only the lock of the store protects the instance.
//
// Until ctx ends, requests wait for webhooks that do not answer before an operator of the package runs. After the work, warnings about
// the objects are reported.
func (s *session) locked(ctx context.Context, work func(context.Context) error) error {
	ctx, warnings := kube.WithWarnings(ctx)
	defer func() {
		s.warn(slices.Concat(s.droppedProblems(), s.ownerlessProblems(), s.unexpandedProblems(), serverWarnings(warnings)))
	}()
	ctx = kube.AwaitWebhooks(ctx, func(waitingFor string) { s.progress(ctx, "waiting for %s", waitingFor) })
	// The previous operation may still be releasing its Lease.
	vnfm.AwaitTrailing(ctx)
	name := "vnf-" + s.target.Instance.ID
	labels := map[string]string{labelInstance: s.target.Instance.ID}
	var release func(context.Context) error
	var lost <-chan struct{}
	// Every operation needs discovery, which does not depend on the Lease.
	var discovery sync.WaitGroup
	var undiscovered error
	discovery.Go(func() { _, undiscovered = s.client.GroupVersions(ctx) })
	err := vnfm.RetryWhileBusy(ctx, func() (err error) {
		release, lost, err = s.client.AcquireLease(ctx, s.namespace, name, process.Name(), labels)
		return err
	})
	discovery.Wait()
	switch {
	case undiscovered != nil:
		if err == nil {
			undiscovered = errors.Join(undiscovered, release(context.WithoutCancel(ctx)))
		}
		return undiscovered
	case apierrors.IsForbidden(err):
		s.progress(ctx, "no right to create a Lease in namespace %s: other machines cannot see that an operation runs on this instance", s.namespace)
		return work(ctx)
	case apierrors.IsNotFound(err):
		return work(ctx)
	case err != nil:
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	done := make(chan struct{})
	s.unlock = func(ctx context.Context) {
		once.Do(func() {
			close(done)
			timeout := releaseTimeout
			if ctx.Err() != nil {
				timeout = interruptedTimeout
			}
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), timeout)
			defer stop()
			if err := release(ctx); err != nil {
				s.progress(ctx, "the Lease %s/%s could not be removed and expires by itself: %v", s.namespace, name, err)
			}
		})
	}
	go func() {
		select {
		case <-lost:
			cancel(&vnfm.LeaseLostError{Object: fmt.Sprintf("VNF instance %q (Lease %s/%s)", s.target.Instance.Name, s.namespace, name)})
		case <-done:
		}
	}()
	if err = work(ctx); err == nil {
		// The release runs in the background because later steps do not depend on it.
		held := context.WithoutCancel(ctx)
		vnfm.Trail(ctx, func() { s.unlock(held) })
	} else {
		s.unlock(ctx)
	}
	return vnfm.WithCause(ctx, err)
}

// maxErrors bounds the reported errors of a batch.
const maxErrors = 20

// each calls f for every index below n, with as many concurrent calls as the target allows, and joins the errors. After the first error
// it starts no new call, unless tryAll is set.
func (s *session) each(ctx context.Context, n int, tryAll bool, f func(ctx context.Context, i int) error) error {
	var (
		mu      sync.Mutex
		next    int
		errs    []error
		workers sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= n || (len(errs) > 0 && !tryAll) || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(s.workers, n) {
		workers.Go(func() {
			for {
				i, ok := take()
				if !ok {
					return
				}
				if err := f(ctx, i); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil && len(errs) == 0 && next < n {
		errs = append(errs, err)
	}
	return joinErrors(errs)
}

// joinErrors joins errors. It keeps only one error of the calls that the end of the context interrupted, because they are equal.
func joinErrors(errs []error) error {
	var out []error
	interrupted := false
	for _, err := range errs {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			if interrupted {
				continue
			}
			interrupted = true
		}
		out = append(out, err)
	}
	if more := len(out) - maxErrors; more > 0 {
		out = append(out[:maxErrors], fmt.Errorf("and %d more of the same kind", more))
	}
	return errors.Join(out...)
}

// save stores the inventory if it has changed. With announce it contains all objects that exist or may be created, else only existing
// objects.
func (s *session) save(ctx context.Context, all []*targetObject, announce bool) error {
	items := make([]vnfm.InventoryItem, 0, len(all))
	for _, p := range all {
		if announce || p.item.UID != "" {
			items = append(items, p.item)
		}
	}
	items = append(items, s.posted...)
	if slices.Equal(items, s.saved) {
		return nil
	}
	if err := s.recorder.SaveInventory(ctx, items); err != nil {
		return fmt.Errorf("saving the inventory: %w", err)
	}
	s.saved = items
	return nil
}
