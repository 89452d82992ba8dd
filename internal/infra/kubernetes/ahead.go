package kubernetes

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Where the API server is far away, what is read one after the other costs more than what it costs to read. So everything
// that an apply reads is asked for at once.

// ahead begins to do something and returns how to get the result.
func ahead[T any](do func() T) (result func() T) {
	done := make(chan T, 1)
	go func() { done <- do() }()
	return sync.OnceValue(func() T { return <-done })
}

// keptSecret is the answer to a reading of the Secret beside the objects.
type keptSecret struct {
	fields      keptFields
	annotations map[string]string
	err         error
}

// readKeptAhead begins to read the Secret beside the objects, where it may have to be written. A new instance has none.
func (s *session) readKeptAhead(ctx context.Context) {
	if s.isNew || s.keptBefore != nil || !s.keepsSecret() {
		return
	}
	s.keptBefore = ahead(func() (k keptSecret) {
		ref, err := s.keptRef(ctx)
		if err != nil {
			return keptSecret{err: err}
		}
		k.fields, k.annotations, k.err = s.readKeptSecret(ctx, ref)
		return k
	})
}

// readNamespace is the answer to a reading of the namespace of the instance.
type readNamespace struct {
	obj *unstructured.Unstructured
	err error
}

// readNamespaceAhead begins to read the namespace of the instance, where instanceNamespace will ask for it whatever exists.
func (s *session) readNamespaceAhead(ctx context.Context, target []*targetObject) {
	if s.namespaceBefore = nil; !s.needsNamespace(target) || !s.recordsNamespace() && len(s.target.Instance.Inventory) > 0 {
		return
	}
	s.namespaceBefore = ahead(func() readNamespace {
		r, err := s.client.Resource(ctx, namespaceKind)
		if err != nil {
			return readNamespace{err: err}
		}
		obj, err := s.client.Get(ctx, kube.Ref{Resource: r, Name: s.namespace})
		return readNamespace{obj, err}
	})
}

// planned is a plan that was made before the Lease was there.
type planned struct {
	plan *applyPlan
	err  error
}

// planAhead begins to plan an instance that has no object yet, without waiting for the Lease: no other process works on a new
// instance.
func (s *session) planAhead(ctx context.Context) {
	if !s.isNew || s.rendering.Release != nil {
		return
	}
	s.planBefore = ahead(func() planned {
		plan, err := s.planApply(ctx)
		return planned{plan, err}
	})
}

// plannedApply is the plan of an apply. One that was made before the Lease was there holds if it shows nothing of the instance:
// what there is may have been made by an operation of another machine, which has ended since.
func (s *session) plannedApply(ctx context.Context) (*applyPlan, error) {
	if s.planBefore == nil {
		return s.planApply(ctx)
	}
	before := s.planBefore()
	if before.err != nil || before.plan.showsInstance(s) {
		return s.planApply(ctx)
	}
	return before.plan, nil
}

// showsInstance reports whether an object that exists is the instance's.
func (a *applyPlan) showsInstance(s *session) bool {
	for _, p := range a.all {
		if p.live != nil && p.live.Labels[labelInstance] == s.target.Instance.ID {
			return true
		}
	}
	return false
}

// watchEarly opens the watch of a workload's collection that a wait will need once the workload is written.
func (s *session) watchEarly(ctx context.Context, p *targetObject) {
	if p.listed == "" || !isWorkload(p) && !isPod(p) {
		return
	}
	s.earlyMu.Lock()
	defer s.earlyMu.Unlock()
	k := collection{p.ref.Resource.GVR, p.ref.Namespace}
	if _, open := s.early[k]; open {
		return
	}
	if s.early == nil {
		s.early = map[collection]*kube.EarlyWatch{}
	}
	s.early[k] = s.client.WatchEarly(ctx, p.ref.Resource, p.ref.Namespace, kube.ListOptions{LabelSelector: instanceSelector(s.target.Instance.ID)}, p.listed)
}

// closeEarly ends the watches that no wait has used.
func (s *session) closeEarly() {
	s.earlyMu.Lock()
	defer s.earlyMu.Unlock()
	for _, w := range s.early {
		if w != nil {
			w.Close()
		}
	}
	s.early = nil
}

// known is what a wait for an object need not ask for.
func (s *session) known(p *targetObject) kube.Known {
	s.earlyMu.Lock()
	defer s.earlyMu.Unlock()
	return kube.Known{Object: p.seen, Listed: p.listed, Early: s.early[collection{p.ref.Resource.GVR, p.ref.Namespace}]}
}
