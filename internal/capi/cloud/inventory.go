package cloud

import (
	"context"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Inventory keeps the application credentials of a cluster, and the Secrets with one on the workload cluster, in the
// inventory of the instance. The infra driver does not handle these items: its target omits them, and Inventory adds them
// to each inventory that the driver saves.
type Inventory struct {
	vnfm.Recorder

	mu      sync.Mutex
	own     []vnfm.InventoryItem
	foreign []vnfm.InventoryItem
}

func isCredential(i vnfm.InventoryItem) bool { return i.Type == vnfm.InventoryCredential }

func isCloudConfig(i vnfm.InventoryItem) bool { return i.Type == vnfm.InventoryCloudConfig }

// NewInventory returns the inventory of a target.
func NewInventory(t *vnfm.Target, r vnfm.Recorder) *Inventory {
	l := &Inventory{Recorder: r}
	for _, item := range t.Instance.Inventory {
		if isCredential(item) || isCloudConfig(item) {
			l.own = append(l.own, item)
		} else {
			l.foreign = append(l.foreign, item)
		}
	}
	return l
}

// WithoutCredentials returns the target for the infra driver.
func (l *Inventory) WithoutCredentials(t *vnfm.Target) *vnfm.Target {
	target, instance := *t, *t.Instance
	instance.Inventory = l.foreign
	target.Instance = &instance
	return &target
}

// SaveInventory implements vnfm.Recorder.
func (l *Inventory) SaveInventory(ctx context.Context, items []vnfm.InventoryItem) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foreign = items
	return l.save(ctx)
}

func (l *Inventory) save(ctx context.Context) error {
	return l.Recorder.SaveInventory(ctx, slices.Concat(l.own, l.foreign))
}

// add records an application credential before it is created, and again with its id. In Keystone
// a credential belongs to its user.
func (l *Inventory) add(ctx context.Context, cluster, userID, name, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	item := vnfm.InventoryItem{
		Type: vnfm.InventoryCredential, Key: CredentialKey(cluster), Name: name, UserID: userID, UID: id,
	}
	if at := slices.IndexFunc(l.own, func(i vnfm.InventoryItem) bool { return isCredential(i) && i.Name == name }); at >= 0 {
		if l.own[at] == item {
			return nil
		}
		l.own[at] = item
	} else {
		l.own = append(slices.Clone(l.own), item)
	}
	return l.save(ctx)
}

// addConfig records a Secret on the workload cluster, before it is created.
func (l *Inventory) addConfig(ctx context.Context, wanted *vnfm.ClusterCloudConfig) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	item := vnfm.InventoryItem{
		Type: vnfm.InventoryCloudConfig, Key: ConfigKey(wanted), Kind: "Secret", Version: "v1", Namespace: wanted.Namespace, Name: wanted.SecretName,
	}
	if slices.Contains(l.own, item) {
		return nil
	}
	l.own = append(slices.Clone(l.own), item)
	return l.save(ctx)
}

// remove removes the items for which gone is true.
func (l *Inventory) remove(ctx context.Context, gone func(vnfm.InventoryItem) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(l.own), gone)
	if len(left) == len(l.own) {
		return nil
	}
	l.own = left
	return l.save(ctx)
}

// items returns the credentials that may exist.
func (l *Inventory) items() []vnfm.InventoryItem { return l.itemsThat(isCredential) }

// configs returns the Secrets on the workload cluster that may exist.
func (l *Inventory) configs() []vnfm.InventoryItem { return l.itemsThat(isCloudConfig) }

func (l *Inventory) itemsThat(match func(vnfm.InventoryItem) bool) []vnfm.InventoryItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.own), func(i vnfm.InventoryItem) bool { return !match(i) })
}
