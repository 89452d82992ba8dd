package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// Replacement is pods of one namespace that give way to others.
type Replacement struct {
	Namespace string
	// Old are the names of the pods that go, by their UIDs: a pod of a StatefulSet
	// comes back under the same name.
	Old map[types.UID]string
	// Ready is how many ready pods each controller is to have in the end.
	Ready map[types.UID]int
	// Workloads are what is looked into when the pods do not come.
	Workloads []Ref
}

// WaitReplaced waits until none of the old pods is there any more and every
// controller has its ready pods, with one LIST and one WATCH. It ends with a
// *NotReadyError when ctx does.
func (c *Client) WaitReplaced(ctx context.Context, r Replacement, o WaitOptions) error {
	w := &replacedWait{Replacement: r, o: o, pods: map[string]*unstructured.Unstructured{}, done: make(chan struct{})}
	start := time.Now()
	follow, stop := context.WithCancel(ctx)
	defer stop()
	f := &follower{client: c, resource: podResource, namespace: r.Namespace, listed: w.list, changed: w.change}
	err := inBackground(func() error { return f.run(follow) }).wait(ctx, w.done, stop)
	if w.finished() {
		return nil
	}
	if err == nil {
		err = ctx.Err()
	}
	explain, cancel := diagnosis(ctx)
	defer cancel()
	return &NotReadyError{
		Objects: c.Explain(explain, r.Workloads), Total: len(r.Workloads),
		Elapsed: time.Since(start), Err: fmt.Errorf("%s: %w", w.lacking(), err),
	}
}

// replacedWait is the state of one WaitReplaced.
type replacedWait struct {
	Replacement
	o WaitOptions

	mu sync.Mutex
	// pods are those of the namespace by name.
	pods     map[string]*unstructured.Unstructured
	reported string
	done     chan struct{}
	closed   bool
}

func (w *replacedWait) list(pods map[string]*unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods = maps.Clone(pods)
	w.look()
}

func (w *replacedWait) change(name string, pod *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pod == nil {
		delete(w.pods, name)
	} else {
		w.pods[name] = pod
	}
	w.look()
}

// look ends the wait when all is there; the caller holds the lock.
func (w *replacedWait) look() {
	standing, missing := w.count()
	if len(standing) == 0 && missing == 0 && !w.closed {
		w.closed = true
		close(w.done)
	}
	line := lack(standing, missing)
	if w.o.Progress == nil || line == w.reported {
		return
	}
	w.reported = line
	w.o.Progress(max(0, len(w.Old)-len(standing)-missing), len(w.Old), line)
}

// finished reports whether all new pods are there.
func (w *replacedWait) finished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// count returns the old pods that are still there and how many ready ones are missing.
func (w *replacedWait) count() (standing []string, missing int) {
	ready := map[types.UID]int{}
	for name, pod := range w.pods {
		if _, old := w.Old[pod.GetUID()]; old {
			standing = append(standing, name)
			continue
		}
		if owner := metav1.GetControllerOf(pod); owner != nil && pod.GetDeletionTimestamp() == nil && readiness.Condition(pod, "Ready").Status == "True" {
			ready[owner.UID]++
		}
	}
	for uid, n := range w.Ready {
		missing += max(0, n-ready[uid])
	}
	slices.Sort(standing)
	return standing, missing
}

func (w *replacedWait) lacking() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return lack(w.count())
}

// lack says what the wait is for.
func lack(standing []string, missing int) string {
	var parts []string
	if len(standing) > 0 {
		parts = append(parts, "old pods that still exist: "+strings.Join(standing, ", "))
	}
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%d new pods not ready", missing))
	}
	return strings.Join(parts, "; ")
}
