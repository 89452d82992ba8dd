package capi

import (
	"context"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ledger keeps the application credentials of a cluster in its inventory. The infra driver
// below does not know them: what it saves is completed, and it gets a target without them.
type ledger struct {
	vnfm.Recorder

	mu     sync.Mutex
	own    []vnfm.InventoryItem
	others []vnfm.InventoryItem
}

func isCredential(i vnfm.InventoryItem) bool { return i.Type == vnfm.InventoryCredential }

// newLedger reads the inventory of a target.
func newLedger(t *vnfm.Target, r vnfm.Recorder) *ledger {
	l := &ledger{Recorder: r}
	for _, item := range t.Instance.Inventory {
		if isCredential(item) {
			l.own = append(l.own, item)
		} else {
			l.others = append(l.others, item)
		}
	}
	return l
}

// below is the target for the infra driver.
func (l *ledger) below(t *vnfm.Target) *vnfm.Target {
	target, instance := *t, *t.Instance
	instance.Inventory = l.others
	target.Instance = &instance
	return &target
}

// SaveInventory implements vnfm.Recorder.
func (l *ledger) SaveInventory(ctx context.Context, items []vnfm.InventoryItem) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others = items
	return l.save(ctx)
}

func (l *ledger) save(ctx context.Context) error {
	return l.Recorder.SaveInventory(ctx, slices.Concat(l.own, l.others))
}

// note writes an application credential down, before it is made and again with its id. A
// credential of Keystone lives under its user.
func (l *ledger) note(ctx context.Context, cluster, userID, name, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	item := vnfm.InventoryItem{
		Type: vnfm.InventoryCredential, Key: credentialKey(cluster), Name: name, UserID: userID, UID: id,
	}
	if at := slices.IndexFunc(l.own, func(i vnfm.InventoryItem) bool { return i.Name == name }); at >= 0 {
		if l.own[at] == item {
			return nil
		}
		l.own[at] = item
	} else {
		l.own = append(slices.Clone(l.own), item)
	}
	return l.save(ctx)
}

// strike takes credentials out for which gone is true.
func (l *ledger) strike(ctx context.Context, gone func(vnfm.InventoryItem) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(l.own), gone)
	if len(left) == len(l.own) {
		return nil
	}
	l.own = left
	return l.save(ctx)
}

// noted are the credentials that may exist.
func (l *ledger) noted() []vnfm.InventoryItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.own)
}
