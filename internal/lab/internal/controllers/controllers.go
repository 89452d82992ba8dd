// Package controllers are the controllers a lab adds to those of Kubernetes: one that makes volumes, and one that
// scales workloads on command, as a horizontal pod autoscaler would on load.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// workers is how many objects of a kind are worked on at once.
const workers = 4

// Run runs the controllers until ctx ends. It calls synced once they have read what there is.
func Run(ctx context.Context, client kubernetes.Interface, log *slog.Logger, synced func()) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	volumes, err := newProvisioner(client, factory, log)
	if err != nil {
		return err
	}
	scaler, err := newAutoscaler(client, factory, log)
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	for kind, done := range factory.WaitForCacheSync(ctx.Done()) {
		if !done {
			return fmt.Errorf("reading the objects of type %s: %w", kind, context.Cause(ctx))
		}
	}
	synced()

	group, ctx := errgroup.WithContext(ctx)
	for _, loop := range []*loop{volumes.claims, volumes.volumes, scaler.targets} {
		group.Go(func() error { loop.run(ctx); return nil })
	}
	return group.Wait()
}

// loop is a queue of object keys with what is to be done for each.
type loop struct {
	name string
	log  *slog.Logger
	// reconcile brings one object about. It is called again after the time it returns, if that is not zero, and with
	// growing pauses after an error.
	reconcile func(ctx context.Context, namespace, name string) (time.Duration, error)
	queue     workqueue.TypedRateLimitingInterface[string]
}

func newLoop(name string, log *slog.Logger, reconcile func(ctx context.Context, namespace, name string) (time.Duration, error)) *loop {
	return &loop{
		name: name, log: log, reconcile: reconcile,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](20*time.Millisecond, 5*time.Second)),
	}
}

// enqueue is an event handler that queues the object itself.
func (l *loop) enqueue() cache.ResourceEventHandler {
	add := func(object any) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		if err != nil {
			l.log.Error("an object without a name", "loop", l.name, "error", err)
			return
		}
		l.queue.Add(key)
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
}

func (l *loop) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, l.queue.ShutDown)
	defer stop()
	var group errgroup.Group
	for range workers {
		group.Go(func() error {
			for l.next(ctx) {
			}
			return nil
		})
	}
	_ = group.Wait()
}

func (l *loop) next(ctx context.Context) bool {
	key, stopped := l.queue.Get()
	if stopped {
		return false
	}
	defer l.queue.Done(key)
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		l.log.ErrorContext(ctx, "an object without a name", "loop", l.name, "key", key, "error", err)
		return true
	}
	after, err := l.reconcile(ctx, namespace, name)
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		l.log.WarnContext(ctx, "will be tried again", "loop", l.name, "object", key, "error", err)
		l.queue.AddRateLimited(key)
	case after > 0:
		l.queue.Forget(key)
		l.queue.AddAfter(key, after)
	default:
		l.queue.Forget(key)
	}
	return true
}
