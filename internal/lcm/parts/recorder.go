// Package parts keeps together what an instance has on several VIMs or clusters: each part
// is driven by itself and keeps its items in the one inventory, under its connection.
package parts

import (
	"context"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Recorder collects the inventories of the parts of an instance into one. It is safe for
// concurrent use.
type Recorder struct {
	to vnfm.Recorder

	mu sync.Mutex
	// order are the parts by their connections, in the order in which the inventory has them.
	order []string
	items map[string][]vnfm.InventoryItem
}

// NewRecorder returns a recorder that saves to another one, given the present inventory.
func NewRecorder(to vnfm.Recorder, inventory []vnfm.InventoryItem) *Recorder {
	r := &Recorder{to: to, items: map[string][]vnfm.InventoryItem{}}
	for _, item := range inventory {
		r.add(item.Connection)
		r.items[item.Connection] = append(r.items[item.Connection], item)
	}
	return r
}

func (r *Recorder) add(connection string) {
	if !slices.Contains(r.order, connection) {
		r.order = append(r.order, connection)
	}
}

// Progress reports what concerns all parts.
func (r *Recorder) Progress(ctx context.Context, line string) { r.to.Progress(ctx, line) }

// Part returns the recorder of the part behind a connection.
func (r *Recorder) Part(connection string) vnfm.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(connection)
	return partRecorder{all: r, connection: connection}
}

// Inventory is what an instance has behind a connection.
func Inventory(i *vnfm.Instance, connection string) []vnfm.InventoryItem {
	var out []vnfm.InventoryItem
	for _, item := range i.Inventory {
		if item.Connection == connection {
			out = append(out, item)
		}
	}
	return out
}

// partRecorder is the recorder of one part.
type partRecorder struct {
	all        *Recorder
	connection string
}

// SaveInventory implements vnfm.Recorder.
func (r partRecorder) SaveInventory(ctx context.Context, items []vnfm.InventoryItem) error {
	mine := slices.Clone(items)
	for i := range mine {
		mine[i].Connection = r.connection
	}
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.all.items[r.connection] = mine
	var inventory []vnfm.InventoryItem
	for _, name := range r.all.order {
		inventory = append(inventory, r.all.items[name]...)
	}
	return r.all.to.SaveInventory(ctx, inventory)
}

// Progress implements vnfm.Recorder.
func (r partRecorder) Progress(ctx context.Context, line string) {
	r.all.to.Progress(ctx, vnfm.ConnectionKey(r.connection, line))
}

// SetNote implements vnfm.Recorder.
func (r partRecorder) SetNote(ctx context.Context, key, note string) error {
	return r.all.to.SetNote(ctx, vnfm.ConnectionKey(r.connection, key), note)
}

// Note implements vnfm.Recorder.
func (r partRecorder) Note(key string) string {
	return r.all.to.Note(vnfm.ConnectionKey(r.connection, key))
}
