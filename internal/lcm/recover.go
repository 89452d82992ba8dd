package lcm

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// RecoverInstance implements vnfm.Manager.
func (e *Engine) RecoverInstance(ctx context.Context, id string, spec vnfm.InstanceSpec) (*vnfm.Instance, error) {
	ctx = withSecretsOf(ctx, &spec)
	s, r, problems, err := e.resolveSpec(ctx, &spec)
	if err == nil {
		err = problems.Err()
	}
	if s == nil || (err != nil && !spec.Known.Ending) {
		return nil, err
	}
	if done, err := e.terminated(ctx, s, id); err != nil || done {
		return nil, errors.Join(err, records.NotFound(store.KindInstance, id))
	}
	if err != nil {
		return e.recoverToEnd(ctx, s, id, spec)
	}
	if err := e.resolveConnections(ctx, s, &spec, nil); err != nil {
		return nil, err
	}
	key := e.keyOnVIM
	if spec.Known.Ending {
		// Nothing is compared any more.
		key = e.recoverKey
	}
	en, err := e.recover(ctx, s, id, spec, r, key)
	if errors.Is(err, store.ErrExists) {
		// Another process has recovered it meanwhile.
		en, err = records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	}
	if vnfm.IsGone(err) && e.forgets(ctx, spec.VIMID, spec.Known.OnUnreachable, spec.Known.DefaultOnUnreachable) {
		// The termination asks the VIM again, and forgets the instance if it is gone.
		return e.recoverToEnd(ctx, s, id, spec)
	}
	if err != nil {
		return nil, vnfm.ConcealedIn(ctx).Error(err)
	}
	return &en.Value, nil
}

// recoverToEnd writes a record that says enough for a termination, which finds what must go by its labels.
func (e *Engine) recoverToEnd(ctx context.Context, s store.Store, id string, spec vnfm.InstanceSpec) (*vnfm.Instance, error) {
	en := newInstance(id, spec)
	i := &en.Value
	i.Status, i.Acknowledged, i.Recovered = vnfm.StatusFailedTemp, true, true
	i.Generation, i.RegisteredVIMID = spec.Known.Generation, spec.Known.RegisteredVIMID
	i.PackageID, i.Connections, i.OperationalState = spec.PackageID, spec.Connections, spec.OperationalState
	i.DigestKey = newKey()
	return i, en.Create(ctx, s)
}

// recover writes the record of an instance that the user knows and the store has lost. Its objects are found on the VIM, and the key
// of its digests by key. What Terraform's state says was complete is complete; anything else is resumed by the update that follows.
func (e *Engine) recover(ctx context.Context, s store.Store, id string, spec vnfm.InstanceSpec, r *resolution, key keyFinder) (*records.Entry[vnfm.Instance], error) {
	en := newInstance(id, spec)
	i := &en.Value
	describeNew(i, spec, r)
	i.Status, i.Acknowledged, i.Recovered = vnfm.StatusFailedTemp, true, true
	if spec.Known.Status == vnfm.StatusInstantiated {
		i.Status = vnfm.StatusInstantiated
	}
	i.Generation, i.RegisteredVIMID = spec.Known.Generation, spec.Known.RegisteredVIMID
	var err error
	if i.DigestKey, err = key(ctx, i, spec, r); err != nil {
		return nil, err
	}
	if i.Results, err = e.resultsOnVIM(ctx, i, spec, r); err != nil {
		return nil, err
	}
	if r, err = e.withResults(ctx, i, &spec, r, false); err != nil {
		return nil, err
	}
	describe(i, spec, r)
	t, d, err := e.bind(ctx, i, r, spec)
	if err != nil {
		return nil, err
	}
	if err := d.Recover(ctx, t, inventoryRecorder{i}); err != nil {
		return nil, fmt.Errorf("looking for what %s %q consists of: %w", i.Noun(), i.Name, err)
	}
	if err := e.sealParams(ctx, en, sealed{spec.Management, spec.InfraSecrets}); err != nil {
		return nil, err
	}
	if err := en.Create(ctx, s); err != nil {
		return nil, err
	}
	if vnfm.Unwritten(ctx) != nil {
		// Nobody else sees the record, and its package may be in no store either.
		return en, nil //nolint:nilerr // there is no confirmation to come
	}
	return en, e.confirmReferences(ctx, s, referencesOf(&spec))
}

// RememberParams implements vnfm.Manager.
func (e *Engine) RememberParams(ctx context.Context, id string, spec vnfm.InstanceSpec) error {
	ctx = withSecretsOf(ctx, &spec)
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil || !en.Value.Recovered {
		return err
	}
	r, _, err := e.resolve(ctx, spec)
	if err != nil || r == nil {
		return err
	}
	e.splitParams(r.flavour, &spec)
	had, err := e.openParams(ctx, en)
	if err != nil || sameParams(had.management, spec.Management) {
		return err
	}
	if err := e.sealParams(ctx, en, sealed{spec.Management, had.secrets}); err != nil {
		return err
	}
	// A stale record is being worked on, with the parameters.
	if err := store.Spared(en.Update(ctx, s)); err != nil && !errors.Is(err, store.ErrStale) {
		return err
	}
	return nil
}

// keyFinder finds the key of the digests of an instance without a record. A refresh must not make another one, with which all digests
// differ: without the key it recovers nothing, and the next apply does.
type keyFinder = func(ctx context.Context, i *vnfm.Instance, spec vnfm.InstanceSpec, r *resolution) ([]byte, error)

// inventoryRecorder keeps the inventory of an instance that has no operation.
type inventoryRecorder struct{ instance *vnfm.Instance }

// SaveInventory implements vnfm.Recorder.
func (r inventoryRecorder) SaveInventory(_ context.Context, items []vnfm.InventoryItem) error {
	r.instance.Inventory = items
	return nil
}

// Progress implements vnfm.Recorder.
func (inventoryRecorder) Progress(context.Context, string) {}

// SetNote implements vnfm.Recorder.
func (inventoryRecorder) Missing() {}

func (inventoryRecorder) SetNote(context.Context, string, string) error { return nil }

// Note implements vnfm.Recorder.
func (inventoryRecorder) Note(string) string { return "" }
