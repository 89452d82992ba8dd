package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// session is one call of the driver for one instance.
type session struct {
	client *kube.Client
	target *vnfm.Target
	// recorder is nil when the call only looks.
	recorder vnfm.Recorder
	// rendering is nil when the package has been lost.
	rendering *rendering
	// namespace receives namespaced objects that name none.
	namespace string
	workers   int
	// unlock gives the lease back; calling it twice is harmless.
	unlock func(ctx context.Context)

	// hooks are the places of the objects that hooks make.
	hooks []*placement
	// releaseOurs is set once the history has shown that the release of the chart is
	// the instance's.
	releaseOurs bool
	// saved is what the inventory was last saved as.
	saved []vnfm.InventoryItem
}

// open renders the target and prepares the client.
func (d *Driver) open(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) (*session, error) {
	s, err := d.connect(t, r)
	if err != nil {
		return nil, err
	}
	rendering, problems := render(budget.New(ctx, budget.Limits{}), t)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s.rendering = rendering
	conceal(ctx, rendering.objects)
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
		client:    client,
		target:    t,
		recorder:  r,
		namespace: namespaceOf(t),
		workers:   workers,
		unlock:    func(context.Context) {},
	}, nil
}

// progress says in one line what is going on.
func (s *session) progress(ctx context.Context, format string, args ...any) {
	if s.recorder != nil {
		s.recorder.Progress(ctx, fmt.Sprintf(format, args...))
	}
}

// releaseTimeout bounds how long giving back the lease may take, interruptedTimeout
// when the user wants to stop now. A busy API server needs many seconds for a
// deletion, and a Lease that stays makes other machines wait until it expires.
const (
	releaseTimeout     = 20 * time.Second
	interruptedTimeout = 2 * time.Second
)

// locked does work under the instance's Lease, the mark beside the objects that
// processes on other machines see. Where there is no right to make Leases, and
// where the namespace does not exist yet, the lock of the store has to do.
//
// The work has all the time that ctx gives, also for webhooks that do not answer
// before an operator of the package runs.
func (s *session) locked(ctx context.Context, work func(context.Context) error) error {
	ctx = kube.AwaitWebhooks(ctx, func(waitingFor string) { s.progress(ctx, "waiting for %s", waitingFor) })
	name := "vnf-" + s.target.Instance.ID
	labels := map[string]string{labelInstance: s.target.Instance.ID}
	// What the server offers is needed in any case, and the answer tells its clock.
	if _, err := s.client.GroupVersions(ctx); err != nil {
		return err
	}
	var release func(context.Context) error
	var lost <-chan struct{}
	err := vnfm.RetryWhileBusy(ctx, func() (err error) {
		release, lost, err = s.client.AcquireLease(ctx, s.namespace, name, store.Holder(), labels)
		return err
	})
	switch {
	case apierrors.IsForbidden(err):
		s.progress(ctx, "no right to make a Lease in namespace %s: other machines cannot see that this instance is being worked on", s.namespace)
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
				s.progress(ctx, "the Lease %s/%s could not be removed and ends by itself: %v", s.namespace, name, err)
			}
		})
	}
	defer s.unlock(ctx)
	go func() {
		select {
		case <-lost:
			cancel(&vnfm.LeaseLostError{Object: fmt.Sprintf("VNF instance %q (Lease %s/%s)", s.target.Instance.Name, s.namespace, name)})
		case <-done:
		}
	}()
	err = work(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// maxErrors is how many failures of a batch are told.
const maxErrors = 20

// each calls f for every index below n, with as many calls at a time as the
// target allows, and joins the errors. After the first one no new call begins,
// unless all are to be tried.
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
	return joined(errs)
}

// joined joins errors. Calls that were cut off by the end of the context say
// all the same: one of them is enough.
func joined(errs []error) error {
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
