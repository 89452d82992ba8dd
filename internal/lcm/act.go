package lcm

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// acted is an instance that an action works on, with what its record says that it is to be.
type acted struct {
	store    store.Store
	instance *records.Entry[vnfm.Instance]
	spec     vnfm.InstanceSpec
}

// CheckAct implements vnfm.Manager. The objects of a workload cluster are not looked at: a chart may have to be fetched for them.
func (e *Engine) CheckAct(ctx context.Context, id string, act vnfm.Act) error {
	a, err := e.acted(ctx, id, act)
	if err != nil || a.spec.Cluster != nil {
		return err
	}
	ctx = withSecretsOf(ctx, &a.spec)
	_, _, err = e.prepare(ctx, &a.spec)
	return vnfm.ConcealedIn(ctx).Error(err)
}

// Act implements vnfm.Manager.
func (e *Engine) Act(ctx context.Context, id string, act vnfm.Act) (*vnfm.Instance, error) {
	a, err := e.acted(ctx, id, act)
	if err != nil {
		return nil, err
	}
	s, en, spec := a.store, a.instance, a.spec
	ctx = withSecretsOf(ctx, &spec)
	_, r, err := e.prepare(ctx, &spec)
	if err != nil {
		return nil, vnfm.ConcealedIn(ctx).Error(err)
	}
	return e.runOnInstance(ctx, s, en, func(ctx context.Context) error {
		if r, err = e.withResults(ctx, &en.Value, &spec, r, true); err != nil {
			return err
		}
		u := &update{engine: e, store: s, instance: en, spec: spec, wanted: r, secrets: spec.InfraSecrets}
		return u.act(ctx)
	})
}

// acted reads what an action works on, with what is asked for. The trigger is one of its own, which is not kept.
func (e *Engine) acted(ctx context.Context, id string, act vnfm.Act) (acted, error) {
	s, err := e.store(ctx)
	if err != nil {
		return acted{}, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return acted{}, err
	}
	e.attachResults(ctx, en)
	had, err := e.openParams(ctx, en)
	if err != nil {
		return acted{}, err
	}
	i, spec := &en.Value, specOf(&en.Value)
	// The drivers' parameters are parted from the others again.
	spec.SecretParams = vnfm.MergeDeep(had.secrets, had.management)
	trigger := "action " + uuid.NewString()
	switch {
	case act.Heal != nil:
		heal := *act.Heal
		heal.Trigger = trigger
		spec.Heal = &heal
	case i.Cluster == nil:
		return acted{}, fmt.Errorf("%s %q is no workload cluster: it has no kubeconfig", i.Noun(), i.Name)
	default:
		spec.RotationTrigger = trigger
	}
	return acted{store: s, instance: en, spec: spec}, nil
}

// act runs the operation of an action, and none that an update would add to it.
func (u *update) act(ctx context.Context) error {
	i := &u.instance.Value
	unfinished, err := u.engine.interrupted(ctx, u.store, u.instance)
	if err != nil {
		return err
	}
	if unfinished != nil || i.Status != vnfm.StatusInstantiated {
		return fmt.Errorf("%s %q is %s, because an earlier operation has not completed; run terraform apply, which resumes it, and then the action again", i.Noun(), i.Name, i.Status)
	}
	in, err := u.planInput(ctx)
	if err != nil {
		return err
	}
	p := &planner{planInput: in, record: in.record, secrets: in.secrets, repaired: true}
	p.heal()
	p.rotateKubeconfig()
	if err := checkServed(u.engine.management(), p.operations).Err(); err != nil {
		return err
	}
	healed, rotation := i.HealTrigger, i.Rotation
	for n := range p.operations {
		if err := u.operation(ctx, &p.operations[n]); err != nil {
			return err
		}
	}
	// The triggers of the configuration are those of before: an apply neither heals nor rotates for them again.
	i.HealTrigger, i.Rotation = healed, rotation
	return saveInstance(ctx, u.store, u.instance)
}
