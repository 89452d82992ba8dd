package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
)

const (
	// explainAfterTimeout bounds the diagnosis after a timeout, explainAfterCancel after a
	// cancellation, when the user wants to stop now.
	explainAfterTimeout = 10 * time.Second
	explainAfterCancel  = 700 * time.Millisecond
	// progressEvery is the minimum interval between calls of Progress.
	progressEvery = 500 * time.Millisecond
	// lookAtPodsAfter is the interval at which a wait looks for crashing containers, for Progress.
	lookAtPodsAfter = 5 * time.Second
)

// WaitOptions modify a wait.
type WaitOptions struct {
	// LabelSelector narrows the objects that the server sends; every object of the wait must match
	// it.
	LabelSelector string
	// Rules are the readiness rules of objects, by the index of their reference. Without a rule
	// readiness.Of decides by the kind. Only WaitReady uses them.
	Rules map[int]*readiness.Rule
	// Known are the known states of objects, by the index of their reference. A kind whose objects
	// are all known is watched from there and not listed. Changes since then count: a known state
	// must include every write whose effect the wait is for, or the wait may end on an older state.
	Known map[int]Known
	// Progress gets the number of ready objects and one that is not ready, at most twice a second,
	// from one goroutine at a time.
	Progress func(ready, total int, waitingFor string)
	// Ended waits until pods have completed, not only until they run.
	Ended bool
}

// WaitReady waits until all objects are ready at the same time (see readiness.Of). It uses one LIST,
// unless all is known, and one WATCH for each kind and namespace, and survives lost connections and
// restarts of the server. It waits also for objects that do not exist yet. An object that exists
// without the labels of the selector has failed. The wait ends with a *NotReadyError if ctx ends or
// an object has failed permanently. The diagnosis takes up to ten seconds after a deadline, and
// less than one after a cancellation.
func (c *Client) WaitReady(ctx context.Context, refs []Ref, o WaitOptions) error {
	return tracing.Do(ctx, tracing.Kubernetes, "wait until ready", func(ctx context.Context) error { return c.waitReady(ctx, refs, o) })
}

func (c *Client) waitReady(ctx context.Context, refs []Ref, o WaitOptions) error {
	if len(refs) == 0 {
		return nil
	}
	if err := checkPaths(refs); err != nil {
		return err
	}
	start := time.Now()
	for {
		w, err := c.followReady(ctx, refs, o)
		switch {
		case err == nil && w.allReady():
			return c.waitServed(ctx, w.current())
		case err == nil && !w.anyFailed() && ctx.Err() == nil:
			// An object that was ready no longer is, so the known states are outdated.
			o.Known = nil
			continue
		case err == nil && !w.anyFailed():
			err = ctx.Err()
		}
		return w.notReady(ctx, err, time.Since(start))
	}
}

// followReady follows the objects until all are ready at the same time, one has failed, or ctx
// ends.
func (c *Client) followReady(ctx context.Context, refs []Ref, o WaitOptions) (*readyWait, error) {
	w := newReadyWait(c, refs, o)
	follow, stop := context.WithCancel(ctx)
	defer stop()
	watching := c.startFollow(follow, w.scopes, o.LabelSelector, o.Known, func(r Resource) bool { return readiness.WithoutStatus(r.GVK.GroupKind()) }, w.see(follow))
	var progress sync.WaitGroup
	if o.Progress != nil {
		progress.Go(func() { w.report(follow) })
	}
	err := watching.wait(ctx, w.done, stop)
	progress.Wait()
	return w, err
}

// readyWait is the state of one WaitReady.
type readyWait struct {
	client *Client
	refs   []Ref
	scopes []*scope
	o      WaitOptions
	claims bindingModes

	mu      sync.Mutex
	objects []*unstructured.Unstructured
	// verdicts are zero for objects that were not reported yet.
	verdicts []readiness.Verdict
	// watched are the indices that count: repetitions in refs do not.
	watched []int
	// done is closed when all are ready or one has failed.
	done   chan struct{}
	closed bool
	// changed wakes the reporter.
	changed chan struct{}
}

func newReadyWait(c *Client, refs []Ref, o WaitOptions) *readyWait {
	w := &readyWait{
		client: c, refs: refs, scopes: scopes(refs), o: o,
		claims:   bindingModes{client: c},
		objects:  make([]*unstructured.Unstructured, len(refs)),
		verdicts: make([]readiness.Verdict, len(refs)),
		done:     make(chan struct{}),
		changed:  make(chan struct{}, 1),
	}
	for _, s := range w.scopes {
		for _, i := range s.byName {
			w.watched = append(w.watched, i)
		}
	}
	return w
}

var notFound = readiness.Verdict{Reason: "NotFound", Message: "the object does not exist"}

func (w *readyWait) see(ctx context.Context) func(int, *unstructured.Unstructured) {
	return func(i int, obj *unstructured.Unstructured) {
		v := notFound
		if obj == nil && w.o.LabelSelector != "" {
			v = w.unselected(ctx, i)
		}
		if obj != nil {
			v = readiness.Of(obj, w.o.Rules[i])
			if w.o.Ended && stillRuns(obj, v) {
				v = readiness.Verdict{Reason: "Running", Message: "the pod has not ended yet"}
			}
			if v.Reason == readiness.ClaimNotBound && w.claims.waitsForConsumer(ctx, obj) {
				v = readiness.Verdict{Ready: true, Message: "bound when a pod uses it"}
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if obj == nil && w.finishedJob(i) {
			return
		}
		w.objects[i], w.verdicts[i] = obj, v
		if !w.closed && (v.Failed || w.ready() == len(w.watched)) {
			w.closed = true
			close(w.done)
		}
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// unselected judges an object that the label selector does not return: it does not exist, or
// another client has changed its labels.
func (w *readyWait) unselected(ctx context.Context, i int) readiness.Verdict {
	selector, err := labels.Parse(w.o.LabelSelector)
	if err != nil {
		return notFound
	}
	obj, err := w.client.Get(ctx, w.refs[i])
	if err != nil || selector.Matches(labels.Set(obj.GetLabels())) {
		return notFound
	}
	var has []string
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		has = append(has, fmt.Sprintf("%s is %q", r.Key(), obj.GetLabels()[r.Key()]))
	}
	return readiness.Verdict{Failed: true, Reason: "Relabelled", Message: fmt.Sprintf(
		"the object exists, and another client has taken it: it has not the label %s, but %s", w.o.LabelSelector, strings.Join(has, ", "))}
}

// stillRuns reports whether an object is a ready pod that has not ended.
func stillRuns(obj *unstructured.Unstructured, v readiness.Verdict) bool {
	return v.Ready && obj.GroupVersionKind().GroupKind().String() == "Pod" && readiness.Text(obj, "status", "phase") != "Succeeded"
}

// finishedJob reports whether a missing object is a Job that was complete: its
// ttlSecondsAfterFinished removes it.
func (w *readyWait) finishedJob(i int) bool {
	gk := w.refs[i].Resource.GVK.GroupKind()
	return gk.Group == "batch" && gk.Kind == "Job" && w.verdicts[i].Ready
}

// ready counts the ready objects; the caller holds the lock.
func (w *readyWait) ready() int {
	n := 0
	for _, i := range w.watched {
		if w.verdicts[i].Ready {
			n++
		}
	}
	return n
}

func (w *readyWait) allReady() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ready() == len(w.watched)
}

func (w *readyWait) anyFailed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.verdicts, func(v readiness.Verdict) bool { return v.Failed })
}

func (w *readyWait) current() []*unstructured.Unstructured {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*unstructured.Unstructured(nil), w.objects...)
}

// unready returns the objects that are not ready, with their last verdicts.
func (w *readyWait) unready() []subject {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []subject
	for i, ref := range w.refs {
		v := w.verdicts[i]
		switch {
		case v == (readiness.Verdict{}):
			v = readiness.Verdict{Reason: "Unknown", Message: "the API server has not reported the state of the object yet"}
			if w.duplicate(i) {
				continue
			}
		case v.Ready:
			continue
		}
		out = append(out, subject{ref: ref, obj: w.objects[i], verdict: v})
	}
	// Permanent failures come first.
	slices.SortStableFunc(out, func(a, b subject) int { return failedFirst(a.verdict) - failedFirst(b.verdict) })
	return out
}

func failedFirst(v readiness.Verdict) int {
	if v.Failed {
		return 0
	}
	return 1
}

func (w *readyWait) duplicate(i int) bool {
	return !slices.Contains(w.watched, i)
}

// report calls Progress until ctx ends.
func (w *readyWait) report(ctx context.Context) {
	pods := time.NewTicker(lookAtPodsAfter)
	defer pods.Stop()
	var crashing, last string
	for {
		select {
		case <-ctx.Done():
			return
		case <-pods.C:
			crashing = w.client.crashing(ctx, w.unready())
		case <-w.changed:
		}
		unready := w.unready()
		ready, total := len(w.watched)-len(unready), len(w.watched)
		waiting := summary(unready)
		if crashing != "" && len(unready) > 0 {
			waiting += "; " + crashing
		}
		if line := fmt.Sprint(ready, waiting); line != last {
			last = line
			w.o.Progress(ready, total, waiting)
		}
		if poll.Sleep(ctx, progressEvery) != nil {
			return
		}
	}
}

// summary names the first object that is not ready, and how many more there are.
func summary(unready []subject) string {
	if len(unready) == 0 {
		return ""
	}
	line := fmt.Sprintf("%s: %s", unready[0].ref, unready[0].verdict.Message)
	if n := len(unready) - 1; n > 0 {
		line += fmt.Sprintf(" (and %d more)", n)
	}
	return line
}

func (w *readyWait) notReady(ctx context.Context, cause error, elapsed time.Duration) error {
	ctx, cancel := diagnosis(ctx)
	defer cancel()
	return &NotReadyError{
		Objects: w.client.explain(ctx, w.unready(), forError),
		Total:   len(w.watched), Elapsed: elapsed, Err: cause,
	}
}

// diagnosis returns a context for a diagnosis after the end of ctx.
func diagnosis(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := explainAfterTimeout
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = explainAfterCancel
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// waitServed waits until the server serves the kinds of established definitions: the condition
// precedes the paths by a moment.
func (c *Client) waitServed(ctx context.Context, objects []*unstructured.Unstructured) error {
	found := false
	for _, obj := range objects {
		if obj == nil || obj.GroupVersionKind().GroupKind().String() != "CustomResourceDefinition.apiextensions.k8s.io" {
			continue
		}
		found = true
		group, plural := readiness.Text(obj, "spec", "group"), readiness.Text(obj, "spec", "names", "plural")
		versions, _, _ := unstructured.NestedSlice(obj.Object, "spec", "versions")
		for _, v := range versions {
			fields, ok := v.(map[string]any)
			if name, _ := fields["name"].(string); ok && fields["served"] == true {
				if err := c.waitPath(ctx, "/apis/"+group+"/"+name, plural, obj.GetName()); err != nil {
					return err
				}
			}
		}
	}
	if found {
		c.RefreshDiscovery()
	}
	return nil
}

func (c *Client) waitPath(ctx context.Context, path, plural, definition string) error {
	for tries := 1; ; tries++ {
		res, err := c.do(ctx, request{doing: "waiting for the kinds of", object: "CustomResourceDefinition " + definition, method: http.MethodGet, path: path})
		var server *serverError
		switch {
		case err == nil && strings.Contains(string(res.body), `"name":"`+plural+`"`):
			return nil
		case err != nil && (!errors.As(err, &server) || server.code != http.StatusNotFound):
			return err
		}
		if err := poll.Sleep(ctx, min(c.retry.backoff(tries), 250*time.Millisecond)); err != nil {
			return fmt.Errorf("waiting for the API server to serve %s, which CustomResourceDefinition %s defines: %w", plural, definition, err)
		}
	}
}
