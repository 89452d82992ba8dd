package lcm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// acted is an instance that an action works on, with what its record says that it is to be.
type acted struct {
	store    store.Store
	instance *records.Entry[vnfm.Instance]
	spec     vnfm.InstanceSpec
	hook     string
}

// paramHook is the parameter of an operation that runs a hook again.
const paramHook = "hook"

// CheckAct implements vnfm.Manager. The objects of a workload cluster are not looked at: a chart may have to be fetched for them.
func (e *Engine) CheckAct(ctx context.Context, id string, act vnfm.Act) error {
	a, err := e.acted(ctx, id, act)
	if err != nil || a.spec.Cluster != nil {
		return err
	}
	_, _, err = e.prepareAct(ctx, a)
	return err
}

// withCredentialTrigger is a workload cluster with another trigger of its application credential. It is kept where the configuration has none.
func withCredentialTrigger(i *vnfm.Instance, cluster *vnfm.ClusterSpec, trigger string) (*vnfm.ClusterSpec, error) {
	if cluster == nil || cluster.OwnCredential() == nil {
		return nil, fmt.Errorf("%s %q has no application credential of its own", i.Noun(), i.Name)
	}
	var configured struct {
		OpenStack struct {
			ApplicationCredential struct {
				RotationTrigger string `json:"rotation_trigger"`
			} `json:"application_credential"`
		} `json:"openstack"`
	}
	if err := json.Unmarshal(i.Arguments, &configured); err == nil && configured.OpenStack.ApplicationCredential.RotationTrigger != "" {
		return nil, fmt.Errorf("the configuration of %s %q has openstack.application_credential.rotation_trigger, and the next apply would follow it: change that instead, or remove it", i.Noun(), i.Name)
	}
	cloud, credential := *cluster.OpenStack, *cluster.OpenStack.Credential
	credential.RotationTrigger, cloud.Credential = trigger, &credential
	out := *cluster
	out.OpenStack = &cloud
	return &out, nil
}

// prepareAct checks what an action asks for. The context knows the secrets.
func (e *Engine) prepareAct(ctx context.Context, a *acted) (context.Context, *resolution, error) {
	ctx = withSecretsOf(ctx, &a.spec)
	_, r, err := e.prepare(ctx, &a.spec)
	if err != nil {
		return ctx, nil, vnfm.ConcealedIn(ctx).Error(err)
	}
	if _, _, _, ok := e.management().Named(r.flavour, a.hook); a.hook != "" && !ok {
		detail := "The VNFD names no management driver for a hook of an operation other than the termination."
		if known := e.management().Names(r.flavour); len(known) > 0 {
			detail = "The VNFD names management drivers for " + vnfm.QuotedNames(known) + "."
		}
		summary := fmt.Sprintf("deployment flavour %q has no hook %q to run again", r.flavour.ID, a.hook)
		return ctx, nil, vnfm.Problems{{Severity: vnfm.SeverityError, Attribute: vnfm.AttributeHook, Summary: summary, Detail: detail}}.Err()
	}
	return ctx, r, nil
}

// Act implements vnfm.Manager.
func (e *Engine) Act(ctx context.Context, id string, act vnfm.Act) (*vnfm.Instance, error) {
	a, err := e.acted(ctx, id, act)
	if err != nil {
		return nil, err
	}
	ctx, r, err := e.prepareAct(ctx, a)
	if err != nil {
		return nil, err
	}
	return e.runOnInstance(ctx, a.store, a.instance, func(ctx context.Context) error {
		if r, err = e.withResults(ctx, &a.instance.Value, &a.spec, r, true); err != nil {
			return err
		}
		u := &update{engine: e, store: a.store, instance: a.instance, spec: a.spec, wanted: r, secrets: a.spec.InfraSecrets}
		if err := u.checkIdle(ctx); err != nil {
			return err
		}
		if a.hook != "" {
			return u.actHook(ctx, a.hook)
		}
		return u.act(ctx)
	})
}

// acted reads what an action works on, with what is asked for. The trigger is one of its own, which is not kept.
func (e *Engine) acted(ctx context.Context, id string, act vnfm.Act) (*acted, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, err
	}
	e.attachResults(ctx, en)
	had, err := e.openParams(ctx, en)
	if err != nil {
		return nil, err
	}
	i, spec := &en.Value, specOf(&en.Value)
	// The drivers' parameters are parted from the others again.
	spec.SecretParams = vnfm.MergeDeep(had.secrets, had.management)
	trigger := "action " + uuid.NewString()
	switch {
	case act.Hook != "":
	case act.RotateCredential:
		if spec.Cluster, err = withCredentialTrigger(i, spec.Cluster, trigger); err != nil {
			return nil, err
		}
	case act.Heal != nil:
		heal := *act.Heal
		heal.Trigger = trigger
		spec.Heal = &heal
	case i.Cluster == nil:
		return nil, fmt.Errorf("%s %q is no workload cluster: it has no kubeconfig", i.Noun(), i.Name)
	default:
		spec.RotationTrigger = trigger
	}
	return &acted{store: s, instance: en, spec: spec, hook: act.Hook}, nil
}

// checkIdle refuses an action on an instance with an operation that has not completed.
func (u *update) checkIdle(ctx context.Context) error {
	i := &u.instance.Value
	unfinished, err := u.engine.interrupted(ctx, u.store, u.instance)
	if err != nil {
		return err
	}
	if unfinished != nil || i.Status != vnfm.StatusInstantiated {
		return fmt.Errorf("%s %q is %s, because an earlier operation has not completed; run terraform apply, which resumes it, and then the action again", i.Noun(), i.Name, i.Status)
	}
	return nil
}

// actHook has the management driver of a hook work again, in an operation without hooks of its own.
func (u *update) actHook(ctx context.Context, hook string) error {
	kind, end, driver, _ := u.engine.management().Named(u.wanted.flavour, hook)
	op, err := u.engine.begin(ctx, u.store, u.instance, vnfm.OpModifyInfo, map[string]any{paramHook: hook})
	if err != nil {
		return err
	}
	before := u.instance.Value
	u.secretsBefore = u.secrets
	o := u.hookOperation(op, u.wanted, nil)
	o.Kind = kind
	if err := u.engine.callDrivers(ctx, op, o, []hooks.Binding{driver}, end); err != nil {
		return u.fail(ctx, op, &before, vnfm.WithCause(ctx, err))
	}
	u.instance.Value.Generation++
	return u.engine.complete(ctx, op, vnfm.StatusInstantiated)
}

// act runs the operation of an action, and none that an update would add to it.
func (u *update) act(ctx context.Context) error {
	i := &u.instance.Value
	in := u.planInput()
	p := &planner{planInput: in, record: in.record, secrets: in.secrets, repaired: true}
	p.changePackage()
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
