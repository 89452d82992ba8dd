// Package parts keeps together what an instance has on several VIMs or clusters: each part
// is driven by itself and keeps its items in the one inventory.
package parts

import (
	"context"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ID identifies a part of an instance: a VIM connection or an add-on. The zero ID is what is
// on the instance's own VIM.
type ID struct{ Connection, Addon string }

func idOf(item *vnfm.InventoryItem) ID { return ID{item.Connection, item.Addon} }

// key prefixes a text with the name of the part.
func (id ID) key(text string) string {
	if id.Addon != "" {
		return vnfm.ConnectionKey(vnfm.ListedAddons+" "+id.Addon, text)
	}
	return vnfm.ConnectionKey(id.Connection, text)
}

// Recorder collects the inventories of the parts of an instance into one. It is safe for
// concurrent use.
type Recorder struct {
	to vnfm.Recorder

	mu sync.Mutex
	// order is the order in which the inventory has the parts.
	order []ID
	items map[ID][]vnfm.InventoryItem
}

// NewRecorder returns a recorder that saves to another one, given the present inventory.
func NewRecorder(to vnfm.Recorder, inventory []vnfm.InventoryItem) *Recorder {
	r := &Recorder{to: to, items: map[ID][]vnfm.InventoryItem{}}
	for _, item := range inventory {
		id := idOf(&item)
		r.add(id)
		r.items[id] = append(r.items[id], item)
	}
	return r
}

func (r *Recorder) add(id ID) {
	if !slices.Contains(r.order, id) {
		r.order = append(r.order, id)
	}
}

// Progress reports what concerns all parts.
func (r *Recorder) Progress(ctx context.Context, line string) { r.to.Progress(ctx, line) }

// Part returns the recorder of one part.
func (r *Recorder) Part(id ID) vnfm.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(id)
	return partRecorder{all: r, id: id}
}

// Inventory is what an instance has in one part.
func Inventory(i *vnfm.Instance, id ID) []vnfm.InventoryItem {
	var out []vnfm.InventoryItem
	for _, item := range i.Inventory {
		if idOf(&item) == id {
			out = append(out, item)
		}
	}
	return out
}

// partRecorder is the recorder of one part.
type partRecorder struct {
	all *Recorder
	id  ID
}

// SaveInventory implements vnfm.Recorder.
func (r partRecorder) SaveInventory(ctx context.Context, items []vnfm.InventoryItem) error {
	mine := slices.Clone(items)
	for i := range mine {
		mine[i].Connection, mine[i].Addon = r.id.Connection, r.id.Addon
	}
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.all.items[r.id] = mine
	var inventory []vnfm.InventoryItem
	for _, id := range r.all.order {
		inventory = append(inventory, r.all.items[id]...)
	}
	return r.all.to.SaveInventory(ctx, inventory)
}

// Progress implements vnfm.Recorder.
func (r partRecorder) Progress(ctx context.Context, line string) {
	r.all.to.Progress(ctx, r.id.key(line))
}

// SetNote implements vnfm.Recorder.
func (r partRecorder) SetNote(ctx context.Context, key, note string) error {
	return r.all.to.SetNote(ctx, r.id.key(key), note)
}

// Note implements vnfm.Recorder.
func (r partRecorder) Note(key string) string {
	return r.all.to.Note(r.id.key(key))
}

// Missing implements vnfm.Recorder.
func (r partRecorder) Missing() { r.all.to.Missing() }
