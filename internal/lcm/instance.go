package lcm

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Instance implements vnfm.Manager.
func (e *Engine) Instance(ctx context.Context, id string) (*vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	if !e.applying.Load() {
		// A plan of a change needs the key as well.
		store.ReadAhead(ctx, s, seal.KeyWanted())
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, err
	}
	if noted := e.noteShares(&en.Value); noted || !en.Value.Acknowledged {
		en.Value.Acknowledged = true
		// A stale record is being worked on; the next read acknowledges it.
		if err := store.Spared(en.Update(ctx, s)); err != nil && !errors.Is(err, store.ErrStale) {
			return nil, err
		}
	}
	return &en.Value, nil
}

// Existing implements vnfm.Manager.
func (e *Engine) Existing(ctx context.Context, spec vnfm.InstanceSpec) (*vnfm.Instance, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	vim, err := vims.Get(ctx, s, spec.VIMID)
	if err != nil {
		return nil, err
	}
	spec.Namespace = e.namespaceOf(spec, vim)
	en, err := findByKey(ctx, s, spec)
	if err != nil {
		return nil, err
	}
	if en == nil {
		return nil, records.NotFound(store.KindInstance, keyOf(spec))
	}
	return &en.Value, nil
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
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, err
	}
	t, d, err := e.bindRecord(ctx, en)
	if err != nil {
		return nil, err
	}
	seen, err := d.Observe(ctx, t)
	if err == nil {
		err = e.watchInto(ctx, en, t, seen)
	}
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
	if err == nil {
		var planned *vnfm.Preview
		var problems vnfm.Problems
		if planned, problems = d.Preview(ctx, t); problems.HasErrors() {
			err = problems.Err()
		} else {
			has.VDUs = planned.VDUs
			for key, digest := range planned.Objects {
				if !strings.HasPrefix(digest, vnfm.Posted) {
					has.Objects = append(has.Objects, key)
				}
			}
			slices.Sort(has.Objects)
		}
	}
	return has, vnfm.ConcealedIn(ctx).Error(err)
}
