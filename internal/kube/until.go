package kube

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
)

// Selection is the objects of one kind in a namespace that match the options.
type Selection struct {
	Resource  Resource
	Namespace string
	Options   ListOptions
}

// Until follows the objects of all selections, with one LIST and one WATCH each. It calls look with
// the objects, by selection and name: when all selections have been listed, and after every change.
// It ends when look reports done, or with the first error of look, of a selection that cannot be
// followed, or of ctx. The objects must not be changed.
func (c *Client) Until(ctx context.Context, all []Selection, look func([]map[string]*unstructured.Unstructured) (done bool, err error)) error {
	return tracing.Do(ctx, tracing.Kubernetes, "wait", func(ctx context.Context) error { return c.until(ctx, all, look) })
}

func (c *Client) until(ctx context.Context, all []Selection, look func([]map[string]*unstructured.Unstructured) (done bool, err error)) error {
	follow, stop := context.WithCancel(ctx)
	u := &untilWait{objects: make([]map[string]*unstructured.Unstructured, len(all)), changed: make(chan struct{}, 1)}
	failed := make(chan error, len(all))
	var followers sync.WaitGroup
	defer func() {
		stop()
		followers.Wait()
	}()
	for i, s := range all {
		followers.Go(func() {
			f := &follower{
				client: c, resource: s.Resource, namespace: s.Namespace, options: s.Options,
				listed:  func(objects map[string]*unstructured.Unstructured) { u.list(i, objects) },
				changed: func(name string, obj *unstructured.Unstructured) { u.change(i, name, obj) },
			}
			if err := f.run(follow); err != nil {
				failed <- err
			}
		})
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-u.changed:
		}
		objects, complete := u.current()
		if !complete {
			continue
		}
		if done, err := look(objects); done || err != nil {
			return err
		}
	}
}

// untilWait holds the known objects of all selections.
type untilWait struct {
	mu sync.Mutex
	// An element is nil if its selection has not been listed yet.
	objects []map[string]*unstructured.Unstructured
	changed chan struct{}
}

func (u *untilWait) list(i int, objects map[string]*unstructured.Unstructured) {
	u.mu.Lock()
	defer u.mu.Unlock()
	// The follower keeps using its own map.
	u.objects[i] = maps.Clone(objects)
	u.wake()
}

func (u *untilWait) change(i int, name string, obj *unstructured.Unstructured) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.objects[i] == nil {
		u.objects[i] = map[string]*unstructured.Unstructured{}
	}
	if obj == nil {
		delete(u.objects[i], name)
	} else {
		u.objects[i][name] = obj
	}
	u.wake()
}

func (u *untilWait) wake() {
	select {
	case u.changed <- struct{}{}:
	default:
	}
}

// current returns a copy of the known objects, and whether all selections were listed.
func (u *untilWait) current() (objects []map[string]*unstructured.Unstructured, complete bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	complete = true
	for _, of := range u.objects {
		complete = complete && of != nil
		objects = append(objects, maps.Clone(of))
	}
	return objects, complete
}
