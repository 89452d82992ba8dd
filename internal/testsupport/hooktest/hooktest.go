// Package hooktest is what management drivers are handed at a hook, for their tests.
package hooktest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Recorder keeps notes, lines of progress, keys of hosts, the state of a driver and VIMs, as an operation does. Its zero
// value has none. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	notes map[string]string
	keys  map[string]string
	lines []string
	state json.RawMessage
	vims  []vnfm.VIMSpec
}

var (
	_ vnfm.Recorder    = (*Recorder)(nil)
	_ vnfm.HostKeys    = (*Recorder)(nil)
	_ vnfm.DriverState = (*Recorder)(nil)
	_ vnfm.VIMRegistry = (*Recorder)(nil)
)

// SaveInventory implements vnfm.Recorder.
func (*Recorder) SaveInventory(context.Context, []vnfm.InventoryItem) error { return nil }

// Progress implements vnfm.Recorder.
func (r *Recorder) Progress(_ context.Context, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// Lines are those of progress so far.
func (r *Recorder) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Missing implements vnfm.Recorder.
func (r *Recorder) Missing() {}

// SetNote implements vnfm.Recorder.
func (r *Recorder) SetNote(_ context.Context, key, note string) error {
	return r.put(&r.notes, key, note)
}

// Note implements vnfm.Recorder.
func (r *Recorder) Note(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes[key]
}

// Pinned implements vnfm.HostKeys.
func (r *Recorder) Pinned(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys[name]
}

// Pin implements vnfm.HostKeys.
func (r *Recorder) Pin(_ context.Context, name, key string) error {
	return r.put(&r.keys, name, key)
}

// put sets a value of a map, which is made when there is none.
func (r *Recorder) put(values *map[string]string, key, value string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *values == nil {
		*values = map[string]string{}
	}
	(*values)[key] = value
	return nil
}

// Load implements vnfm.DriverState.
func (r *Recorder) Load(into any) error {
	state := r.State()
	if state == nil {
		return nil
	}
	return json.Unmarshal(state, into)
}

// Save implements vnfm.DriverState.
func (r *Recorder) Save(_ context.Context, value any) error {
	state, err := json.Marshal(value)
	if err != nil {
		return err
	}
	r.SetState(state)
	return nil
}

// State is what the driver has written down; nil when it has nothing.
func (r *Recorder) State() json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// SetState sets what the driver has written down; nil is a record that was lost.
func (r *Recorder) SetState(state json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

// RegisterVIM implements vnfm.VIMRegistry.
func (r *Recorder) RegisterVIM(_ context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vims = append(r.vims, spec)
	return &vnfm.VIM{ID: id}, nil, nil
}

// DeregisterVIM implements vnfm.VIMRegistry.
func (*Recorder) DeregisterVIM(context.Context, string) error { return nil }

// VIMs are those that were registered, in their order.
func (r *Recorder) VIMs() []vnfm.VIMSpec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.vims)
}
