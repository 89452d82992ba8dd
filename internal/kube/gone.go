package kube

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// Standing is an object that still exists although its removal was awaited.
type Standing struct {
	Ref Ref
	// DeletionTimestamp is the time of the deletion request; nil without a request.
	DeletionTimestamp *metav1.Time
	// Age is the time since the deletion request, by the server's clock.
	Age time.Duration
	// Finalizers keep the object until their controllers remove them.
	Finalizers []string
	// Owners are the owners of the object, as "Kind/name".
	Owners []string
	// Message is the object's own report on its deletion: a Namespace names its remaining contents,
	// a definition the remaining objects of its kind.
	Message string
}

// StillThereError names the objects that were not removed in time.
type StillThereError struct {
	Objects []Standing
	Elapsed time.Duration
	Err     error
}

func (e *StillThereError) Error() string {
	var b strings.Builder
	objects := "1 object still exists"
	if n := len(e.Objects); n != 1 {
		objects = fmt.Sprintf("%d objects still exist", n)
	}
	fmt.Fprintf(&b, "%s after %s (%v):", objects, e.Elapsed.Round(100*time.Millisecond), e.Err)
	for _, s := range e.Objects[:min(len(e.Objects), maxExplained)] {
		b.WriteString("\n* " + s.String())
	}
	if more := len(e.Objects) - maxExplained; more > 0 {
		fmt.Fprintf(&b, "\n* and %d more", more)
	}
	return b.String()
}

func (e *StillThereError) Unwrap() error { return e.Err }

// String returns in one line the reasons why the object still exists.
func (s Standing) String() string {
	var parts []string
	if s.DeletionTimestamp == nil {
		parts = append(parts, "is not being deleted")
	} else {
		parts = append(parts, fmt.Sprintf("has been marked for deletion since %s (%s ago)", s.DeletionTimestamp.UTC().Format(time.RFC3339), s.Age.Round(time.Second)))
	}
	if len(s.Finalizers) > 0 {
		parts = append(parts, "waits for the finalizers "+strings.Join(s.Finalizers, ", ")+": the controller that set them has not removed them")
	}
	if len(s.Owners) > 0 {
		parts = append(parts, "is owned by "+strings.Join(s.Owners, ", "))
	}
	if s.Message != "" {
		parts = append(parts, s.Message)
	}
	return s.Ref.String() + " " + strings.Join(parts, "; ")
}

// WaitGone waits until none of the objects exists. It ends with a *StillThereError if ctx ends or a
// kind cannot be followed.
func (c *Client) WaitGone(ctx context.Context, refs []Ref, o WaitOptions) error {
	if len(refs) == 0 {
		return nil
	}
	if err := checkPaths(refs); err != nil {
		return err
	}
	w := &goneWait{refs: refs, left: map[int]*unstructured.Unstructured{}, done: make(chan struct{}), o: o}
	all := scopes(refs)
	for _, s := range all {
		for _, i := range s.byName {
			w.left[i] = nil
		}
	}
	w.total = len(w.left)
	start := time.Now()
	follow, stop := context.WithCancel(ctx)
	defer stop()
	watching := c.startFollow(follow, all, o.LabelSelector, o.Known, func(Resource) bool { return true }, w.see)
	err := watching.wait(ctx, w.done, stop)
	if w.allGone() {
		return nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return &StillThereError{Objects: c.standing(ctx, w), Elapsed: time.Since(start), Err: err}
}

// goneWait is the state of one WaitGone.
type goneWait struct {
	refs  []Ref
	o     WaitOptions
	total int
	done  chan struct{}

	mu sync.Mutex
	// left are the objects that still exist, nil before they were first seen.
	left     map[int]*unstructured.Unstructured
	reported time.Time
	closed   bool
}

func (w *goneWait) see(i int, obj *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if obj != nil {
		w.left[i] = obj
		if held := obj.GetFinalizers(); len(held) > 0 && obj.GetDeletionTimestamp() != nil {
			w.report(fmt.Sprintf("%s to be gone, which the finalizers %s hold", w.refs[i], strings.Join(held, ", ")))
		}
		return
	}
	delete(w.left, i)
	next := ""
	for k := range w.left {
		next = w.refs[k].String() + " to be gone"
		break
	}
	w.report(next)
	if len(w.left) == 0 && !w.closed {
		w.closed = true
		close(w.done)
	}
}

// report passes the number of removed objects, and one that is awaited, to Progress.
func (w *goneWait) report(next string) {
	if w.o.Progress != nil && (time.Since(w.reported) >= progressEvery || len(w.left) == 0) {
		w.reported = time.Now()
		w.o.Progress(w.total-len(w.left), w.total, next)
	}
}

func (w *goneWait) allGone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.left) == 0
}

// standing describes the remaining objects, in the order of the references.
func (c *Client) standing(ctx context.Context, w *goneWait) []Standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx, cancel := diagnosis(ctx)
	defer cancel()
	var out []Standing
	for i, ref := range w.refs {
		obj, left := w.left[i]
		if !left {
			continue
		}
		s := Standing{Ref: ref}
		if obj == nil {
			s.Message = "the API server has not reported its state"
			out = append(out, s)
			continue
		}
		if s.DeletionTimestamp = obj.GetDeletionTimestamp(); s.DeletionTimestamp != nil {
			s.Age = max(0, c.serverNow().Sub(s.DeletionTimestamp.Time))
		}
		s.Finalizers = obj.GetFinalizers()
		for _, o := range obj.GetOwnerReferences() {
			s.Owners = append(s.Owners, o.Kind+"/"+o.Name)
		}
		switch ref.Resource.GVK.GroupKind().String() {
		case "Namespace":
			s.Message = c.contentsLeft(ctx, ref, "")
		case "CustomResourceDefinition.apiextensions.k8s.io":
			s.Message = c.contentsLeft(ctx, ref, "Terminating")
		}
		out = append(out, s)
	}
	return out
}

// contentsLeft returns the messages of a Namespace or a definition about its remaining contents,
// from the conditions of type kind, or from all conditions if kind is empty.
func (c *Client) contentsLeft(ctx context.Context, ref Ref, kind string) string {
	obj, err := c.Get(ctx, ref)
	if err != nil {
		return ""
	}
	var parts []string
	for _, cond := range readiness.Conditions(obj) {
		if cond.Status == "True" && cond.Message != "" && (kind == "" || cond.Type == kind) {
			parts = append(parts, cond.Message)
		}
	}
	return strings.Join(parts, "; ")
}
