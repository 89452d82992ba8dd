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

// Replacement describes pods of one namespace and the pods that replace them.
type Replacement struct {
	Namespace string
	// Old are the names of the old pods by their UIDs: a StatefulSet creates the new pod under the
	// same name.
	Old map[types.UID]string
	// Ready is the number of ready pods that each controller must have in the end.
	Ready map[types.UID]int
	// Workloads are explained in the error if the pods do not become ready.
	Workloads []Ref
}

// WaitReplaced waits until no old pod exists and every controller has its ready pods, with one LIST
// and one WATCH. It ends with a *NotReadyError if ctx ends or the pods cannot be followed.
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
	// pods are all pods of the namespace by name.
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

// look ends the wait when the pods are replaced, and reports progress. The caller holds the lock.
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

// finished reports whether all pods are replaced.
func (w *replacedWait) finished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// count returns the old pods that still exist and the number of missing ready pods.
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

// lack describes the reasons why the wait continues.
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
