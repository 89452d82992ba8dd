package kubernetes

import (
	"sync"

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

// known is what a wait for an object need not ask for.
func known(p *targetObject) kube.Known { return kube.Known{Object: p.seen, Listed: p.listed} }
