package labtest

import (
	"context"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// HostKeys keeps the keys of hosts in memory. The zero value is empty.
type HostKeys struct {
	// Refuse is the error of Pin.
	Refuse error

	mu   sync.Mutex
	keys map[string]string
}

var _ vnfm.HostKeys = (*HostKeys)(nil)

// Pinned implements vnfm.HostKeys.
func (h *HostKeys) Pinned(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[name]
}

// Pin implements vnfm.HostKeys.
func (h *HostKeys) Pin(_ context.Context, name, key string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys == nil {
		h.keys = map[string]string{}
	}
	h.keys[name] = key
	return h.Refuse
}

// Len is how many keys were pinned.
func (h *HostKeys) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.keys)
}
