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

// known is what a wait for an object need not ask for.
func known(p *targetObject) kube.Known { return kube.Known{Object: p.seen, Listed: p.listed} }
