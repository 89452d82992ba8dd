package lcm

import (
	"context"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// wholeRecorder keeps the inventory of an instance together whose parts are driven one
// by one: each part saves what is its own.
type wholeRecorder struct {
	to vnfm.Recorder

	mu sync.Mutex
	// order are the parts by their connections, in the order in which the inventory has them.
	order []string
	items map[string][]vnfm.InventoryItem
}

func newWholeRecorder(to vnfm.Recorder, inventory []vnfm.InventoryItem) *wholeRecorder {
	whole := &wholeRecorder{to: to, items: map[string][]vnfm.InventoryItem{}}
	for _, item := range inventory {
		whole.add(item.Connection)
		whole.items[item.Connection] = append(whole.items[item.Connection], item)
	}
	return whole
}

func (w *wholeRecorder) add(connection string) {
	if !slices.Contains(w.order, connection) {
		w.order = append(w.order, connection)
	}
}

// of returns the recorder of the part behind a connection.
func (w *wholeRecorder) of(connection string) vnfm.Recorder {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(connection)
	return partRecorder{whole: w, connection: connection}
}

// inventoryOf is what an instance has behind a connection.
func inventoryOf(i *vnfm.Instance, connection string) []vnfm.InventoryItem {
	var out []vnfm.InventoryItem
	for _, item := range i.Inventory {
		if item.Connection == connection {
			out = append(out, item)
		}
	}
	return out
}

// partRecorder hears one part.
type partRecorder struct {
	whole      *wholeRecorder
	connection string
}

// SaveInventory implements vnfm.Recorder.
func (r partRecorder) SaveInventory(ctx context.Context, items []vnfm.InventoryItem) error {
	mine := slices.Clone(items)
	for i := range mine {
		mine[i].Connection = r.connection
	}
	r.whole.mu.Lock()
	defer r.whole.mu.Unlock()
	r.whole.items[r.connection] = mine
	var all []vnfm.InventoryItem
	for _, name := range r.whole.order {
		all = append(all, r.whole.items[name]...)
	}
	return r.whole.to.SaveInventory(ctx, all)
}

// Progress implements vnfm.Recorder.
func (r partRecorder) Progress(ctx context.Context, line string) {
	r.whole.to.Progress(ctx, vnfm.ConnectionKey(r.connection, line))
}

// Keep implements vnfm.Recorder.
func (r partRecorder) Keep(ctx context.Context, key, note string) error {
	return r.whole.to.Keep(ctx, vnfm.ConnectionKey(r.connection, key), note)
}

// Kept implements vnfm.Recorder.
func (r partRecorder) Kept(key string) string {
	return r.whole.to.Kept(vnfm.ConnectionKey(r.connection, key))
}
