package lcm

import (
	"context"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// DryRunInstance implements vnfm.Manager. It takes no lease and writes no record of the
// instance: an operation that runs meanwhile is not disturbed. In a process that has
// begun to apply, or that plans again what another one of the same run has tried,
// nothing is: what is planned there is done at once.
func (e *Engine) DryRunInstance(ctx context.Context, id string, spec vnfm.InstanceSpec, keys []string) (vnfm.Problems, error) {
	if e.applying.Load() {
		return nil, nil
	}
	s, r, err := e.prepare(ctx, &spec)
	if err != nil {
		return nil, err
	}
	asked, err := e.newDryRunNote(ctx, id, spec, keys)
	if store.Spared(err) != nil {
		return nil, err
	}
	// Who may not write the key of the store can leave no note either.
	noted := err == nil
	if noted && e.takeDryRunNote(ctx, s, asked) {
		return nil, nil
	}
	en := newInstance(id, spec)
	// Nothing keeps the digests of a dry run.
	en.Value.DigestKey, en.Value.Generation = e.ownKey, spec.Known.Generation
	if id != "" {
		found, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
		if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			en = found
			e.attachResults(ctx, en)
		}
	}
	if err := e.resolveConnections(ctx, s, &spec, en.Value.Connections); err != nil {
		return nil, err
	}
	if r, err = e.withResults(ctx, &en.Value, &spec, r, false); err != nil {
		return nil, err
	}
	problems := e.checkHostsAtPlan(ctx, r, &spec, en.Value.HostKeys)
	describe(&en.Value, spec, r)
	t, d, err := e.bind(ctx, &en.Value, r, spec)
	if err != nil {
		return problems, err
	}
	if id == "" {
		t.Yields = func(ctx context.Context, owner string) bool {
			planned, known := e.plannedAs.Load(owner)
			return known && planned == plannedPlace(&spec) || mayGo(ctx, s, owner, spec.Name)
		}
	}
	tried, err := d.DryRun(ctx, t, keys)
	problems = append(problems, tried...)
	if noted && err == nil && !problems.HasErrors() {
		saveDryRunNote(ctx, s, asked)
	}
	return problems, err
}

// plannedPlace identifies what an instance is planned to be: two resources cannot be the same there. With -replace, Terraform plans a change
// of the instance, which may rename it, and then in the same process the creation of what replaces it.
func plannedPlace(spec *vnfm.InstanceSpec) string { return spec.VIMID + "/" + spec.Name }

// mayGo reports whether an instance may be gone when one of this name is made: Terraform plans what replaces an instance as a creation,
// and destroys the other one first. Such an instance has the same name, or is incomplete and may be tainted.
func mayGo(ctx context.Context, s store.Store, id, name string) bool {
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	return err == nil && (en.Value.Name == name || en.Value.Status != vnfm.StatusInstantiated)
}
