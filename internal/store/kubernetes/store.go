package kubernetes

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// timing is how long things take; tests shorten it.
type timing struct {
	// lease is how long a lease lives without renewal, renew how often it is renewed.
	lease, renew time.Duration
	// patience is how long a record stays pending before it is taken for what a killed
	// process has left.
	patience time.Duration
	// answer is how long a write waits for its answer after the caller's context
	// has ended: a write whose outcome nobody knows costs more.
	answer time.Duration
	// release bounds giving a lease back, which does not end with the caller's context.
	release time.Duration
	// format is how long the answer holds that says which format the store has.
	format time.Duration
}

func defaultTiming() timing {
	return timing{
		lease: 15 * time.Second, renew: 5 * time.Second,
		patience: 5 * time.Second, answer: time.Second, release: 5 * time.Second, format: time.Minute,
	}
}

type kubeStore struct {
	client    *kube.Client
	namespace string
	timing    timing
	// release is the release of the provider that works on the store.
	release string
	// clock is that of the machine, maxContent is MaxContent; tests have others.
	clock      func() time.Time
	maxContent int64

	// checking is a semaphore rather than a mutex, so that waiting for it ends with the
	// context.
	checking chan struct{}

	leases store.Leases[*lease]
	// given is the advice that the user has been given.
	given store.Given

	mu sync.Mutex
	// checked is when the format was asked for last, present whether there was one.
	checked time.Time
	present bool
	// sightings are the leases of others as they were seen last, by name.
	sightings map[string]sighting
	// seen are the leases that this handle has given back, as it wrote them, or has seen free; nil for one that nobody ever had.
	seen store.Seen[*coordinationv1.Lease]
	// looking are closed when objects were looked at that will be needed, by name, and manifests are those of contents as they were seen then.
	looking   map[string]chan struct{}
	manifests map[string]*meta
	// known are the records as this handle has read or written them last, by the name of
	// the object. They are never trusted: what is written for an outdated one is refused.
	known map[string]*meta
	// doubtful are the marks of updates whose outcome is not known, by the name of the
	// object.
	doubtful map[string]string
	// created is the time of the creation before.
	created time.Time
	// swept is set once this handle has removed what killed processes left.
	swept bool
}

var (
	_ store.Store        = (*kubeStore)(nil)
	_ store.EncodedBlobs = (*kubeStore)(nil)
)

// Open returns the store in a namespace. It sends no request: a wrong address, missing rights
// and a missing namespace are errors of the first use, and a store that nobody wrote to leaves
// no trace. release is the version of the provider, which each object records for the errors of
// releases that cannot read it. Closing the store does not end the client. The returned store
// keeps nothing of ctx.
func Open(ctx context.Context, client *kube.Client, namespace, release string) (store.Store, error) {
	return open(ctx, client, namespace, release, defaultTiming())
}

func open(ctx context.Context, client *kube.Client, namespace, release string, t timing) (*kubeStore, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return nil, fmt.Errorf("the namespace %q of the Kubernetes store is not the name of a namespace: %s; "+
			"set the provider argument store = { kubernetes = { namespace = \"...\" } }", namespace, problems[0])
	}
	return &kubeStore{
		client: client, namespace: namespace, release: release, timing: t, clock: time.Now, maxContent: MaxContent,

		checking:  make(chan struct{}, 1),
		sightings: map[string]sighting{},
		looking:   map[string]chan struct{}{},
		manifests: map[string]*meta{},
		known:     map[string]*meta{},
		doubtful:  map[string]string{},
	}, nil
}

// Close gives back the leases that are still held and ends the handle.
func (s *kubeStore) Close() error { return s.leases.Close(func() error { return nil }) }

// usable returns an error when the handle is closed or ctx has ended.
func (s *kubeStore) usable(ctx context.Context, doing string) error {
	if s.leases.Closed() {
		return fmt.Errorf("%s is closed", s.place())
	}
	if ctx.Err() != nil {
		return s.explain(ctx, doing, ctx.Err())
	}
	return nil
}

// sending returns a context that ends a while after ctx does: what is sent with it is
// answered in nearly all cases.
func (s *kubeStore) sending(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = poll.Sleep(longer, s.timing.answer)
		cancel()
	})
	return longer, func() { stop(); cancel() }
}

// learn remembers a committed record as it was read or written.
func (s *kubeStore) learn(m *meta) {
	if m.pending {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[m.name] = m
}

func (s *kubeStore) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, name)
}

// recall returns a copy of what is known of a record, or nil.
func (s *kubeStore) recall(name string) *meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.known[name]
	if !ok {
		return nil
	}
	found := *m
	return &found
}

// each calls f with 0 to n-1, some at a time, until one of them fails.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	const atOnce = 8
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
