package kube

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Known is what the caller of a wait knows of an object already: from a list of its kind, or the answer to a later write.
type Known struct {
	Object *unstructured.Unstructured
	// Listed is the resource version of the list.
	Listed string
	// Early is a watch that was opened at that version; nil for none.
	Early *EarlyWatch
}

// MaxKnown is how many objects of a kind a wait follows from what is known of them. Of more objects the changes since
// the list may be more than the objects.
const MaxKnown = 100

// grows reports whether the resource versions of a kind are numbers that grow. Those of the API server's own kinds are.
func grows(r Resource) bool { return !strings.Contains(r.GVK.Group, ".") }

// knownIn returns what is known of the objects of a scope, and the version to watch its collection from: an empty one when
// something is not known. The watch may be open already.
func knownIn(s *scope, known map[int]Known) (objects map[string]*unstructured.Unstructured, from string, early *EarlyWatch) {
	if len(s.byName) > MaxKnown || !grows(s.resource) {
		return nil, "", nil
	}
	objects = make(map[string]*unstructured.Unstructured, len(s.byName))
	oldest := uint64(0)
	for name, i := range s.byName {
		k := known[i]
		listed, ok := versionNumber(k.Listed)
		if !ok || k.Object == nil {
			return nil, "", nil
		}
		if _, ok := versionNumber(k.Object.GetResourceVersion()); !ok {
			return nil, "", nil
		}
		objects[name] = k.Object
		if from == "" || listed < oldest {
			oldest, from, early = listed, k.Listed, k.Early
		}
	}
	if early != nil && early.from != from {
		early = nil
	}
	return objects, from, early
}

// EarlyWatch is a watch of a kind in a namespace that was opened before anybody waits: at the same time as the writes whose consequences a
// wait will be about. One wait uses it.
type EarlyWatch struct {
	from   string
	stop   context.CancelFunc
	opened chan struct{}
	taken  atomic.Bool
	res    *http.Response
	err    error
}

// WatchEarly opens a watch from the version of a list; nil where a wait could not use it.
func (c *Client) WatchEarly(ctx context.Context, r Resource, namespace string, o ListOptions, from string) *EarlyWatch {
	return watchEarly(ctx, &follower{client: c, resource: r, namespace: namespace, options: o}, from)
}

// WatchMetadataEarly is WatchEarly for a wait that needs the metadata alone, as WaitGone does.
func (c *Client) WatchMetadataEarly(ctx context.Context, r Resource, namespace string, o ListOptions, from string) *EarlyWatch {
	return watchEarly(ctx, &follower{client: c, resource: r, namespace: namespace, options: o, metadataOnly: true}, from)
}

func watchEarly(ctx context.Context, f *follower, from string) *EarlyWatch {
	if _, ok := versionNumber(from); !ok || !grows(f.resource) {
		return nil
	}
	w := &EarlyWatch{from: from, opened: make(chan struct{})}
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		defer close(w.opened)
		w.res, w.err = f.client.send(ctx, f.request(from)) //nolint:bodyclose // who takes it closes it, or Close
	}()
	return w
}

// Close ends a watch that no wait has used.
func (w *EarlyWatch) Close() {
	w.stop()
	if <-w.opened; w.err == nil && w.taken.CompareAndSwap(false, true) {
		_ = w.res.Body.Close()
	}
}

// take returns the answer to the request, once; it ends with ctx.
func (w *EarlyWatch) take(ctx context.Context) (res *http.Response, open bool, err error) {
	if w == nil || !w.taken.CompareAndSwap(false, true) {
		return nil, false, nil
	}
	context.AfterFunc(ctx, w.stop)
	<-w.opened
	return w.res, true, w.err
}

// olderThan reports whether an event about an object is not newer than what is known of it.
func olderThan(event, known *unstructured.Unstructured) bool {
	if event == nil || known == nil {
		return false
	}
	a, ok := versionNumber(event.GetResourceVersion())
	b, numbers := versionNumber(known.GetResourceVersion())
	return ok && numbers && a <= b
}

func versionNumber(version string) (uint64, bool) {
	n, err := strconv.ParseUint(version, 10, 64)
	return n, err == nil && n > 0
}
