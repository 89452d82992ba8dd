package lcm

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// naturalKey identifies an instance for its users.
func naturalKey(vimID, namespace, name string) string {
	return vimID + "/" + namespace + "/" + name
}

// keyOf is the natural key of a prepared spec.
func keyOf(spec vnfm.InstanceSpec) string {
	key := naturalKey(spec.VIMID, spec.Namespace, spec.Name)
	if spec.Cluster != nil {
		// A workload cluster and a VNF instance may have the same name.
		return clusterGroup + ":" + key
	}
	return key
}

// Instance implements vnfm.Manager.
func (e *Engine) Instance(ctx context.Context, id string) (*vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, err
	}
	if noted := e.noteShares(&en.Value); noted || !en.Value.Acknowledged || len(en.Value.DigestKey) == 0 {
		en.Value.Acknowledged = true
		if err := store.Spared(e.ensureKey(ctx, &en.Value)); err != nil {
			return nil, err
		}
		// A stale record is being worked on; the next read acknowledges it.
		if err := store.Spared(en.Update(ctx, s)); err != nil && !errors.Is(err, store.ErrStale) {
			return nil, err
		}
	}
	return &en.Value, nil
}

// InstanceByName implements vnfm.Manager.
func (e *Engine) InstanceByName(ctx context.Context, vimID, namespace, name string) (*vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	key := naturalKey(vimID, namespace, name)
	found, err := records.List[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance, Key: key})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, records.NotFound(store.KindInstance, key)
	}
	return &found[0].Value, nil
}

// Instances implements vnfm.Manager.
func (e *Engine) Instances(ctx context.Context, f vnfm.InstanceFilter) ([]vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	return records.Values(ctx, s, store.KindInstance, func(i *vnfm.Instance) (vnfm.Instance, bool) { return *i, f.Selects(i) })
}

// Observe implements vnfm.Manager.
func (e *Engine) Observe(ctx context.Context, id string) (*vnfm.Observation, error) {
	ctx = vnfm.WithConcealed(ctx)
	t, d, err := e.load(ctx, id)
	if err != nil {
		return nil, err
	}
	seen, err := d.Observe(ctx, t)
	return seen, vnfm.ConcealedIn(ctx).Error(err)
}

// Resources implements vnfm.Manager.
func (e *Engine) Resources(ctx context.Context, id string) (*vnfm.ResourceInfo, error) {
	ctx = vnfm.WithConcealed(ctx)
	t, d, err := e.load(ctx, id)
	if err != nil {
		return nil, err
	}
	has, err := d.Resources(ctx, t)
	return has, vnfm.ConcealedIn(ctx).Error(err)
}

// load composes the target of an instance as its record stands.
func (e *Engine) load(ctx context.Context, id string) (*vnfm.Target, vnfm.InfraDriver, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, nil, err
	}
	return e.bindRecord(ctx, en)
}

// bindRecord composes the target of an instance as its record stands.
func (e *Engine) bindRecord(ctx context.Context, en *records.Entry[vnfm.Instance]) (*vnfm.Target, vnfm.InfraDriver, error) {
	spec, err := e.recordedSpec(ctx, en)
	if err != nil {
		return nil, nil, err
	}
	r, problems, err := e.resolve(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	return e.bind(ctx, &en.Value, r, spec)
}

// bind composes a target that can be carried out, with VIM and credentials, and
// returns the driver for all VIMs of the instance.
func (e *Engine) bind(ctx context.Context, i *vnfm.Instance, r *resolution, spec vnfm.InstanceSpec) (*vnfm.Target, vnfm.InfraDriver, error) {
	if err := e.ensureKey(ctx, i); err != nil {
		return nil, nil, err
	}
	t := e.target(i, r, spec)
	var err error
	if t.VIM, t.Credentials, err = e.vims.Open(ctx, i.VIMID); err != nil {
		return nil, nil, err
	}
	t.Access = e.vims.Open
	t.Arguments = func(ctx context.Context) ([]byte, error) { return e.arguments(ctx, i, &spec) }
	d, err := e.vims.Driver(t.VIM.Type)
	if err != nil {
		return nil, nil, err
	}
	if d, err = e.withCluster(ctx, d, i); err != nil {
		return nil, nil, err
	}
	d, err = multivim.New(ctx, d, t, e.lookupVIM)
	return t, d, err
}

// checkUnchangeable checks that spec does not ask for what only a new instance can have.
func checkUnchangeable(i *vnfm.Instance, spec vnfm.InstanceSpec) error {
	if spec.VIMID != i.VIMID {
		return fmt.Errorf("%s %q is on VIM %q and cannot move to VIM %q: it must be replaced", i.Noun(), i.Name, i.VIMID, spec.VIMID)
	}
	if spec.Namespace != i.Namespace {
		return fmt.Errorf("%s %q is in namespace %q and cannot move to %q: it must be replaced", i.Noun(), i.Name, i.Namespace, spec.Namespace)
	}
	return multivim.CheckConnectionsStay(i, spec)
}
