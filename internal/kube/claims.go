package kube

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// bindingModes caches, for one wait, which StorageClasses bind a claim only when a pod uses it.
type bindingModes struct {
	client *Client

	mu    sync.Mutex
	waits map[string]bool
}

var storageClass = Resource{
	GVK: schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
	GVR: schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
}

// waitsForConsumer reports whether a pending claim stays pending until a pod uses it. Without the
// right to read StorageClasses, the claim's event decides.
func (b *bindingModes) waitsForConsumer(ctx context.Context, claim *unstructured.Unstructured) bool {
	name := readiness.Text(claim, "spec", "storageClassName")
	if name == "" {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if waits, known := b.waits[name]; known {
		return waits
	}
	class, err := b.client.Get(ctx, Ref{Resource: storageClass, Name: name})
	if err != nil {
		return b.saysEvent(ctx, claim)
	}
	if b.waits == nil {
		b.waits = map[string]bool{}
	}
	b.waits[name] = readiness.Text(class, "volumeBindingMode") == "WaitForFirstConsumer"
	return b.waits[name]
}

func (b *bindingModes) saysEvent(ctx context.Context, claim *unstructured.Unstructured) bool {
	events, err := b.client.eventsOf(ctx, claim.GetNamespace(), "involvedObject.uid="+string(claim.GetUID())+",reason=WaitForFirstConsumer")
	return err == nil && len(events) > 0
}
