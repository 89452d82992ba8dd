//go:build linux

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const (
	loopAgent    = "bench-loop"
	loopManager  = "bench-loop"
	loopWorkers  = 16
	observeAgent = "bench-observer"
)

// resources is the static table from kinds to resources.
var resources = map[string]schema.GroupVersionResource{
	"ConfigMap":      {Version: "v1", Resource: "configmaps"},
	"Secret":         {Version: "v1", Resource: "secrets"},
	"Service":        {Version: "v1", Resource: "services"},
	"Deployment":     {Group: "apps", Version: "v1", Resource: "deployments"},
	"ServiceAccount": {Version: "v1", Resource: "serviceaccounts"},
	"Role":           {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":    {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	"NetworkPolicy":  {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
}

// loop is the floor: the least that a client can do for the same work. It knows
// the kinds beforehand, keeps no record, checks nothing and recovers from nothing.
type loop struct {
	client dynamic.Interface
	// namespaces get the same objects each.
	namespaces []string
}

// newDynamic returns a client with all rights and without a limit of its own.
func newDynamic(lab labtest.Env, userAgent string) (dynamic.Interface, error) {
	return dynamic.NewForConfig(&rest.Config{
		Host:            lab.Endpoint,
		BearerToken:     lab.AdminToken,
		TLSClientConfig: rest.TLSClientConfig{CAFile: lab.CAFile},
		QPS:             -1,
		UserAgent:       userAgent,
	})
}

// objects are those of the manifests of a folder, in each namespace.
func (l *loop) objects(dir string) ([]*unstructured.Unstructured, error) {
	manifests, err := read(dir)
	if err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, 0, len(l.namespaces)*len(manifests))
	for _, namespace := range l.namespaces {
		for _, obj := range manifests {
			obj = obj.DeepCopy()
			obj.SetNamespace(namespace)
			out = append(out, obj)
		}
	}
	return out, nil
}

// in is where objects of a kind are in the namespace of the loop, or in all when it has several.
func (l *loop) in(kind string) dynamic.ResourceInterface {
	r := l.client.Resource(resources[kind])
	if len(l.namespaces) == 1 {
		return r.Namespace(l.namespaces[0])
	}
	return r
}

// read reads the manifests of a folder, one object in each file.
func read(dir string) ([]*unstructured.Unstructured, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		obj := &unstructured.Unstructured{}
		if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096).Decode(&obj.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, obj)
	}
	return out, nil
}

// all calls f for each object with the loop's number of workers.
func (l *loop) all(ctx context.Context, objects []*unstructured.Unstructured, f func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error) error {
	var (
		workers sync.WaitGroup
		next    atomic.Int64
		errs    = make([]error, loopWorkers)
	)
	for worker := range loopWorkers {
		workers.Go(func() {
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(objects) {
					return
				}
				r := l.client.Resource(resources[objects[i].GetKind()]).Namespace(objects[i].GetNamespace())
				errs[worker] = f(ctx, r, objects[i])
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// apply writes everything and waits until all Deployments are rolled out.
func (l *loop) apply(ctx context.Context, dir string) error {
	objects, err := l.objects(dir)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	err = l.all(ctx, objects, func(ctx context.Context, r dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
		_, err := r.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: loopManager, Force: true})
		return err
	})
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if obj.GetKind() == "Deployment" {
			names[placeOf(obj)] = true
		}
	}
	return rolledOut(ctx, l.in("Deployment"), names, metav1.ListOptions{})
}

// check finds out whether everything is there, with one LIST for each kind.
func (l *loop) check(ctx context.Context, dir string) error {
	objects, err := l.objects(dir)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	there := map[string]bool{}
	err = l.kinds(ctx, func(ctx context.Context, kind string, r dynamic.ResourceInterface) error {
		list, err := r.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range list.Items {
			there[kind+"/"+placeOf(&list.Items[i])] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if !there[obj.GetKind()+"/"+placeOf(obj)] {
			return fmt.Errorf("%s %s is gone", obj.GetKind(), placeOf(obj))
		}
	}
	return nil
}

// kinds calls f for each kind, all at the same time.
func (l *loop) kinds(ctx context.Context, f func(ctx context.Context, kind string, r dynamic.ResourceInterface) error) error {
	var workers sync.WaitGroup
	errs := make([]error, len(shares))
	for i, share := range shares {
		workers.Go(func() { errs[i] = f(ctx, share.kind, l.in(share.kind)) })
	}
	workers.Wait()
	return errors.Join(errs...)
}

// scale sets the replicas of one Deployment and waits until they are there.
func (l *loop) scale(ctx context.Context, name string, replicas int) error {
	r := l.in("Deployment")
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := r.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: loopManager}, "scale"); err != nil {
		return err
	}
	return rolledOut(ctx, r, map[string]bool{l.namespaces[0] + "/" + name: true}, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
}

// repair writes one object again.
func (l *loop) repair(ctx context.Context, dir, name string) error {
	objects, err := l.objects(dir)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if obj.GetName() == name {
			r := l.in(obj.GetKind())
			_, err := r.Apply(ctx, name, obj, metav1.ApplyOptions{FieldManager: loopManager, Force: true})
			return err
		}
	}
	return fmt.Errorf("there is no object %s", name)
}

// restart rolls the pods of a Deployment, as a heal of its VDU does, and waits until the new ones are there.
func (l *loop) restart(ctx context.Context, name string) error {
	r := l.in("Deployment")
	patch := []byte(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`)
	if _, err := r.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: loopManager}); err != nil {
		return err
	}
	return rolledOut(ctx, r, map[string]bool{l.namespaces[0] + "/" + name: true}, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
}

// remove deletes everything and does not look whether it has gone.
func (l *loop) remove(ctx context.Context, dir string) error {
	objects, err := l.objects(dir)
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	return l.all(ctx, objects, func(ctx context.Context, r dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
		return r.Delete(ctx, obj.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	})
}

// readyAt waits until a Deployment is rolled out with a number of replicas and
// returns when the API server told so.
func readyAt(ctx context.Context, client dynamic.Interface, namespace, name string, replicas int64) (time.Time, error) {
	r := client.Resource(resources["Deployment"]).Namespace(namespace)
	w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return time.Time{}, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		obj, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas"); n == replicas && isRolledOut(obj) {
			return time.Now(), nil
		}
	}
	return time.Time{}, errors.New("the watch has ended")
}

// rolledOut waits with one LIST and one WATCH until Deployments are rolled out.
func rolledOut(ctx context.Context, r dynamic.ResourceInterface, names map[string]bool, options metav1.ListOptions) error {
	list, err := r.List(ctx, options)
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for name := range names {
		left[name] = true
	}
	for i := range list.Items {
		if isRolledOut(&list.Items[i]) {
			delete(left, placeOf(&list.Items[i]))
		}
	}
	if len(left) == 0 {
		return nil
	}
	options.ResourceVersion = list.GetResourceVersion()
	w, err := r.Watch(ctx, options)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-w.ResultChan():
			if !ok {
				return errors.New("the watch has ended")
			}
			obj, ok := event.Object.(*unstructured.Unstructured)
			if !ok || !names[placeOf(obj)] {
				continue
			}
			if isRolledOut(obj) {
				delete(left, placeOf(obj))
			}
			if len(left) == 0 {
				return nil
			}
		}
	}
}

// placeOf is the namespace and the name of an object.
func placeOf(obj *unstructured.Unstructured) string { return obj.GetNamespace() + "/" + obj.GetName() }

func isRolledOut(obj *unstructured.Unstructured) bool {
	field := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(obj.Object, path...)
		return n
	}
	want := field("spec", "replicas")
	return field("status", "observedGeneration") >= obj.GetGeneration() &&
		field("status", "replicas") == want && field("status", "updatedReplicas") == want && field("status", "availableReplicas") == want
}
