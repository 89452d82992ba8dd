package lcm

import (
	"context"
	"errors"
	"fmt"

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
	en, err := get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, err
	}
	if !en.value.Acknowledged || len(en.value.DigestKey) == 0 {
		en.value.Acknowledged = true
		if err := e.needKey(ctx, &en.value); err != nil {
			return nil, err
		}
		// A stale record is being worked on; the next read acknowledges it.
		if err := en.update(ctx, s); err != nil && !errors.Is(err, store.ErrStale) {
			return nil, err
		}
	}
	return &en.value, nil
}

// InstanceByName implements vnfm.Manager.
func (e *Engine) InstanceByName(ctx context.Context, vimID, namespace, name string) (*vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	key := naturalKey(vimID, namespace, name)
	found, err := list[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance, Key: key})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &vnfm.NotFoundError{Kind: nouns[store.KindInstance], ID: key}
	}
	return &found[0].value, nil
}

// Instances implements vnfm.Manager.
func (e *Engine) Instances(ctx context.Context, f vnfm.InstanceFilter) ([]vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
	if err != nil {
		return nil, err
	}
	var out []vnfm.Instance
	for _, en := range all {
		i := en.value
		if (f.VIMID == "" || onVIM(&i, f.VIMID)) && (f.Namespace == "" || i.Namespace == f.Namespace) && (f.PackageID == "" || i.PackageID == f.PackageID) && (f.Name == "" || i.Name == f.Name) {
			out = append(out, i)
		}
	}
	return out, nil
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
	en, err := get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, nil, err
	}
	return e.bindRecord(ctx, en)
}

// bindRecord composes the target of an instance as its record stands.
func (e *Engine) bindRecord(ctx context.Context, en *entry[vnfm.Instance]) (*vnfm.Target, vnfm.InfraDriver, error) {
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
	return e.bind(ctx, &en.value, r, spec)
}

// bind composes a target that can be carried out, with VIM and credentials, and
// returns the driver for all VIMs of the instance.
func (e *Engine) bind(ctx context.Context, i *vnfm.Instance, r *resolution, spec vnfm.InstanceSpec) (*vnfm.Target, vnfm.InfraDriver, error) {
	if err := e.needKey(ctx, i); err != nil {
		return nil, nil, err
	}
	t := e.target(i, r, spec)
	var err error
	if t.VIM, t.Credentials, err = e.vimWithCredentials(ctx, i.VIMID); err != nil {
		return nil, nil, err
	}
	t.Access = e.vimWithCredentials
	d, err := e.driver(t.VIM.Type)
	if err != nil {
		return nil, nil, err
	}
	if d, err = e.over(ctx, d, i); err != nil {
		return nil, nil, err
	}
	d, err = e.spread(ctx, d, t, true)
	return t, d, err
}

// unchangeable checks that spec does not ask for what only a new instance can have.
func unchangeable(i *vnfm.Instance, spec vnfm.InstanceSpec) error {
	if spec.VIMID != i.VIMID {
		return fmt.Errorf("%s %q is on VIM %q and cannot move to VIM %q: it must be replaced", i.Noun(), i.Name, i.VIMID, spec.VIMID)
	}
	if spec.Namespace != i.Namespace {
		return fmt.Errorf("%s %q is in namespace %q and cannot move to %q: it must be replaced", i.Noun(), i.Name, i.Namespace, spec.Namespace)
	}
	return unmovable(i, spec)
}
