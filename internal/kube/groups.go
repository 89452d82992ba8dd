package kube

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scope is a kind in a namespace, the range of one LIST and one WATCH.
type scope struct {
	resource  Resource
	namespace string
	// byName maps names to indices of the references.
	byName map[string]int
}

// scopes groups references by kind and namespace and drops repetitions.
func scopes(refs []Ref) []*scope {
	type key struct{ resource, namespace string }
	index := map[key]*scope{}
	var out []*scope
	for i, ref := range refs {
		k := key{ref.Resource.GVR.String(), ref.Namespace}
		s, ok := index[k]
		if !ok {
			s = &scope{resource: ref.Resource, namespace: ref.Namespace, byName: map[string]int{}}
			index[k] = s
			out = append(out, s)
		}
		if _, ok := s.byName[ref.Name]; !ok {
			s.byName[ref.Name] = i
		}
	}
	return out
}

// options narrows the list to the object if there is only one.
func (s *scope) options(labels string) ListOptions {
	o := ListOptions{LabelSelector: labels}
	if len(s.byName) == 1 {
		for name := range s.byName {
			o.FieldSelector = "metadata.name=" + name
		}
	}
	return o
}

// following is a follow that runs in the background.
type following struct {
	// ended is closed when the follow has ended; err is valid afterwards.
	ended chan struct{}
	err   error
}

// inBackground runs a follow.
func inBackground(follow func() error) *following {
	f := &following{ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		f.err = follow()
	}()
	return f
}

// wait waits until done is closed or the follow or ctx ends. It then stops the follow and returns
// its error.
func (f *following) wait(ctx context.Context, done <-chan struct{}, stop func()) error {
	select {
	case <-done:
	case <-f.ended:
	case <-ctx.Done():
	}
	stop()
	<-f.ended
	return f.err
}

func (c *Client) startFollow(
	ctx context.Context, all []*scope, labels string, known map[int]Known, metadataOnly func(Resource) bool, see func(i int, obj *unstructured.Unstructured),
) *following {
	return inBackground(func() error { return c.follow(ctx, all, labels, known, metadataOnly, see) })
}

// follow runs one follower per scope until ctx ends, and returns the first permanent error. It
// calls see with each object of the references, or with nil if the object is missing. Calls for one
// object never overlap.
func (c *Client) follow(
	ctx context.Context, all []*scope, labels string, known map[int]Known, metadataOnly func(Resource) bool, see func(i int, obj *unstructured.Unstructured),
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, s := range all {
		f := &follower{
			client: c, resource: s.resource, namespace: s.namespace,
			options: s.options(labels), metadataOnly: metadataOnly(s.resource),
			listed: func(objects map[string]*unstructured.Unstructured) {
				for name, i := range s.byName {
					see(i, objects[name])
				}
			},
			changed: func(name string, obj *unstructured.Unstructured) {
				if i, ok := s.byName[name]; ok {
					see(i, obj)
				}
			},
		}
		f.known, f.from = knownIn(s, known)
		wg.Go(func() {
			if err := f.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if cause := context.Cause(ctx); cause != ctx.Err() { //nolint:errorlint // identity tells our own cause from the end of ctx
		return cause
	}
	return nil
}
