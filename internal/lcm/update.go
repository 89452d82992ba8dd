package lcm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/catalog"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Update implements vnfm.Manager.
func (e *Engine) Update(ctx context.Context, id string, spec vnfm.InstanceSpec) (*vnfm.Instance, error) {
	call := ctx
	ctx = withSecretsOf(ctx, &spec)
	e.applying.Store(true)
	e.lookAhead(ctx, id, &spec)
	s, r, err := e.prepare(ctx, &spec)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	lost := errors.Is(err, vnfm.ErrNotFound)
	if err != nil && !lost {
		return nil, err
	}
	var present map[string]vnfm.Connection
	if !lost {
		present = en.Value.Connections
	}
	if err := e.resolveConnections(ctx, s, &spec, present); err != nil {
		return nil, err
	}
	if err := e.checkCredentials(ctx, &spec); err != nil {
		return nil, err
	}
	if lost {
		if en, err = e.recover(ctx, s, id, spec, r, e.recoverKey); err != nil {
			return nil, err
		}
	}
	if err := checkUnchangeable(ctx, s, &en.Value, spec); err != nil {
		return nil, err
	}
	return e.runOnInstance(ctx, s, en, func(ctx context.Context) error {
		work, stop := workTime(ctx, &spec)
		defer stop()
		if r, err = e.withResults(work, &en.Value, &spec, r, true); err != nil {
			return err
		}
		u := &update{engine: e, store: s, instance: en, spec: spec, wanted: r}
		if err := u.run(work); err != nil {
			return err
		}
		e.uses.left(en.Rec.ID, en.Value.PackageID)
		err := e.catalog.RemoveUnused(ctx, s)
		lookAtAnswer(call, s, &en.Value)
		return err
	})
}

// update leads one instance to a spec: it runs the operations of a plan one after the other.
type update struct {
	engine   *Engine
	store    store.Store
	instance *records.Entry[vnfm.Instance]
	spec     vnfm.InstanceSpec
	wanted   *resolution
	// secrets are the secret parameters that the infra driver has applied, and secretsBefore
	// those of before the operation that runs.
	secrets, secretsBefore map[string]any
	// unfinished is an operation that an earlier update did not finish.
	unfinished *operation
	// sealedBefore are the sealed values of the record as it was read.
	sealedBefore []byte
	// isLast says that no operation follows the one that runs.
	isLast bool
	// looksAfter says that drift is looked for after the operation that runs, and looking gets what was found.
	looksAfter bool
	looking    chan drifting
	// missing says that an operation has not found all that it would have changed.
	missing bool
	// held are VNFCs that were changed outside of Terraform, which the operation that runs leaves to the repair after it.
	held []string
}

func (u *update) run(ctx context.Context) error {
	unfinished, err := u.engine.interrupted(ctx, u.store, u.instance)
	if err != nil {
		return err
	}
	if unfinished != nil && unfinished.kind() == vnfm.OpInstantiate {
		return u.engine.instantiate(ctx, u.store, u.instance, u.spec, u.wanted, unfinished)
	}
	if u.spec.Known.Gone {
		return u.instantiateAgain(ctx, unfinished)
	}
	u.unfinished, u.sealedBefore = unfinished, u.instance.Rec.Sealed
	if err := u.engine.checkInstance(ctx, u.store, u.instance); err != nil {
		return err
	}
	// Secret parameters that cannot be opened any more are applied again: the request has all of them.
	if had, err := u.engine.openParams(ctx, u.instance); err == nil {
		u.secrets = had.secrets
	}
	if u.instance.Value.Recovered {
		u.takeForKnown()
	}
	if err := u.engine.sealParams(ctx, u.instance, sealed{u.spec.Management, u.secrets}); err != nil {
		return err
	}
	plan, err := u.execute(ctx)
	if err != nil {
		return err
	}
	if err := u.record(ctx); err != nil || !plan.abandons {
		return err
	}
	return u.unfinished.giveUp(ctx)
}

// instantiateAgain makes an instance that is missing or being deleted. What was left unfinished on
// the former one, such as its termination, is given up.
func (u *update) instantiateAgain(ctx context.Context, unfinished *operation) error {
	if unfinished != nil {
		if err := unfinished.giveUp(ctx); err != nil {
			return err
		}
	}
	return u.engine.instantiate(ctx, u.store, u.instance, u.spec, u.wanted, nil)
}

// takeForKnown takes the parameters that a recovered record does not tell for those that are asked for: nothing rolls and no hook runs
// for that alone. Objects that differ are found as drift.
func (u *update) takeForKnown() {
	i := &u.instance.Value
	u.secrets = u.spec.InfraSecrets
	i.ConfiguredDigest = paramsDigest(i.DigestKey, u.spec.Management)
}

// execute runs the operations of a plan in their order. Drift is looked for only where nothing else applies all objects, unless the
// refresh has seen that there is none, and as the operations before it have left them; the plan is then made again with what was found.
func (u *update) execute(ctx context.Context) (updatePlan, error) {
	in := u.planInput()
	// Asked once: a rotation for that reason has run before drift is observed.
	in.kubeconfigExpired = u.kubeconfigExpired(ctx)
	u.lookAtHealed(ctx, &in)
	for {
		plan := planUpdate(in)
		at := slices.IndexFunc(plan.operations, func(o plannedOperation) bool { return o.OnlyIfDrifted })
		certain := plan.operations
		if at >= 0 {
			certain = plan.operations[:at]
		}
		if err := checkServed(u.engine.management(), certain).Err(); err != nil {
			return plan, err
		}
		for i := range certain {
			last := i == len(certain)-1
			u.isLast, u.looksAfter = last && at < 0, last && at >= 0
			if err := u.operation(ctx, &certain[i]); err != nil {
				return plan, err
			}
		}
		if at < 0 && !u.missing {
			return plan, nil
		}
		u.missing = false
		found := u.drift(ctx)
		if found.err != nil {
			return plan, found.err
		}
		in = u.planInput()
		in.drift = slices.Concat(found.differences, u.watched(ctx, found.target))
		in.observed = true
	}
}

// planInput gathers what the plan follows from.
func (u *update) planInput() planInput {
	i := &u.instance.Value
	in := planInput{
		record: *i, secrets: u.secrets, spec: u.spec, wanted: u.wanted,
		configured: paramsDigest(i.DigestKey, u.spec.Management), observed: u.spec.Known.InSync && !i.Recovered,
	}
	if u.unfinished != nil {
		occurrence := u.unfinished.snapshot()
		in.unfinished = &occurrence
	}
	return in
}

// record writes down what changed without an operation, such as a scale level that is given and was the default before.
func (u *update) record(ctx context.Context) error {
	i := &u.instance.Value
	next := *i
	describe(&next, u.spec, u.wanted)
	next.Recovered = false
	was, err := json.Marshal(i)
	if err != nil {
		return err
	}
	is, err := json.Marshal(next)
	if err != nil || bytes.Equal(was, is) {
		return err
	}
	*i = next
	return saveInstance(ctx, u.store, u.instance)
}

// actionFuncs are what the operations do between their hooks, by their action.
var actionFuncs = map[action]func(*update, context.Context, *operation, *plannedOperation) error{
	actionFinish:           (*update).noWork,
	actionRotateKubeconfig: (*update).rotateKubeconfig,
	actionModify:           (*update).modify,
	actionApplyReadiness:   (*update).applyInfo,
	actionRename:           (*update).applyInfo,
	actionChangePackage:    (*update).changePackage,
	actionConnect:          (*update).connect,
	actionOperate:          (*update).operate,
	actionScale:            (*update).scale,
	actionHeal:             (*update).heal,
	actionRepair:           (*update).repair,
	actionConfigure:        (*update).configure,
	actionSendCredentials:  (*update).noWork,
}

// operation runs one LCM operation, and ends it.
func (u *update) operation(ctx context.Context, o *plannedOperation) error {
	if err := u.prepare(ctx, o); err != nil {
		return err
	}
	op, err := u.begin(ctx, o)
	if err != nil {
		return err
	}
	return op.traced(ctx, func(ctx context.Context) error {
		before := u.instance.Value
		u.secretsBefore, u.held = u.secrets, nil
		if op.state() != vnfm.StateProcessing {
			if err := op.enter(ctx, vnfm.StateProcessing, nil); err != nil {
				return err
			}
		}
		if err := u.withHooks(ctx, op, o); err != nil {
			return u.fail(ctx, op, &before, vnfm.WithCause(ctx, err))
		}
		u.missing = u.missing || op.missing.Load()
		var next []store.Wanted
		switch {
		case u.isLast:
			if o.Action == actionChangePackage {
				// The former package goes.
				u.engine.deciding.takeAhead(ctx, u.store)
			}
			next = catalog.UnusedWanted()
		case u.looksAfter:
			u.lookBeside(ctx)
		}
		err := u.engine.complete(ctx, op, o.Status, next...)
		if err != nil && u.looking != nil {
			<-u.looking
		}
		return err
	})
}

// begin returns the occurrence of an operation: the unfinished one that it resumes, or another one. What a former occurrence has noted of
// its work counts for one that is to lead elsewhere.
func (u *update) begin(ctx context.Context, o *plannedOperation) (*operation, error) {
	former := u.unfinished
	if o.Resumes {
		u.unfinished = nil
	}
	if o.Resumes && !o.Anew {
		if from, ok := former.occ.Value.Parameters[paramFromPackage]; ok {
			o.Params[paramFromPackage] = from
		}
		former.occ.Value.Parameters = o.Params
		return former, nil
	}
	if o.Action == actionChangePackage {
		u.engine.deciding.takeAhead(ctx, u.store)
	}
	op := u.engine.newOperation(ctx, u.store, u.instance, o.Type, o.Params)
	if o.Anew {
		op.occ.Value.Notes = maps.Clone(former.occ.Value.Notes)
	}
	if err := op.start(ctx); err != nil || !o.Anew {
		return op, err
	}
	return op, former.giveUp(ctx)
}

// prepare checks what an operation asks for against the VIM, and notes what it replaces, before it begins. One that is
// resumed may have taken away some of what it names.
func (u *update) prepare(ctx context.Context, o *plannedOperation) error {
	switch {
	case o.Action == actionRotateKubeconfig:
		return u.noteKubeconfig(ctx)
	case o.Action == actionScale && !o.Resumes:
		return u.checkScaledIn(ctx)
	case o.Action == actionHeal && !o.Resumes:
		return u.checkHealed(ctx, o)
	}
	return nil
}

// noteWorked is the note of an operation whose work is done: nothing but its last hook
// is left.
const noteWorked = "worked"

// withHooks does the work of an operation between its hooks.
func (u *update) withHooks(ctx context.Context, op *operation, o *plannedOperation) error {
	hook := u.hookOperation(op, o.to, o.Changes)
	if op.Note(noteWorked) != "" {
		return u.engine.runHook(ctx, op, hook, true)
	}
	replaced, err := u.prepareLeaving(ctx, op, hook, o)
	if err != nil {
		return err
	}
	if err := u.engine.runHook(ctx, op, hook, false); err != nil {
		return err
	}
	if err := (hostKeys{op}).forget(ctx, replaced); err != nil {
		return err
	}
	if err := actionFuncs[o.Action](u, ctx, op, o); err != nil {
		return err
	}
	if len(u.engine.management().At(&hook, true)) == 0 {
		return nil
	}
	// The record is saved first: a process that resumes takes it for the result of the work.
	// After a kill only the status tells a plan that something is left to do.
	u.instance.Value.Status = vnfm.StatusProcessing
	if err := saveInstance(ctx, u.store, u.instance); err != nil {
		return err
	}
	if err := op.SetNote(ctx, noteWorked, "done"); err != nil {
		return err
	}
	return u.engine.runHook(ctx, op, hook, true)
}

// prepareLeaving notes which VNFCs leave with an operation, and returns those of them that are replaced because they are to be others.
// Of these, all rounds but the last are over when it returns.
func (u *update) prepareLeaving(ctx context.Context, op *operation, hook hooks.Operation, o *plannedOperation) ([]string, error) {
	if o.Leaving == "" {
		return nil, nil
	}
	if o.Leaving == leavingReplaced || o.Leaving == leavingBroken {
		next := u.instance.Value
		describe(&next, o.spec, o.to)
		c := replacement{note: noteTurns, next: &next, spec: u.spec, to: o.to, surplus: true, broken: o.Leaving == leavingBroken}
		if o.Action == actionChangePackage {
			c.begin = func(ctx context.Context) error { return u.announce(ctx, o) }
		}
		return u.takeTurns(ctx, op, &hook, c)
	}
	ids, err := u.noteLeaving(ctx, op, hook, o)
	if err != nil {
		return nil, fmt.Errorf("choosing the VNFCs to remove: %w", err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(driftedOf(op), id) })
	if o.Leaving == leavingScaledIn && len(ids) > 0 {
		// Those for which the drivers have made ready, and no others.
		u.spec.ScaleInVNFCIDs = ids
	}
	return u.holdDrifted(ctx, op, &hook, o, ids)
}

// hookOperation is what the hooks of an operation of this update need to know.
func (u *update) hookOperation(op *operation, r *resolution, changes hooks.Changes) hooks.Operation {
	return hooks.Operation{Kind: op.kind(), Package: r.pkg, Flavour: r.flavour, Request: u.spec, Changes: changes, Counts: r.counts}
}

// noteLeaving notes which VNFCs an operation takes away, for the drivers that are called
// before and after it. Nothing is looked up where there are none, and an operation that is
// continued goes on with those that were noted.
func (u *update) noteLeaving(ctx context.Context, op *operation, hook hooks.Operation, o *plannedOperation) ([]string, error) {
	if !u.engine.management().HasAny(&hook) {
		return nil, nil
	}
	if ids, noted, err := hooks.Leaving(op); noted || err != nil {
		return ids, err
	}
	ids, err := u.leavingVNFCs(ctx, o)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return ids, hooks.NoteLeaving(ctx, op, ids)
}

// leavingVNFCs are the VNFCs that leave with a scale or a heal.
func (u *update) leavingVNFCs(ctx context.Context, o *plannedOperation) ([]string, error) {
	if o.Leaving == leavingScaledIn {
		next := u.instance.Value
		describe(&next, o.spec, o.to)
		t, d, err := u.engine.bind(ctx, &next, o.to, u.spec)
		if err != nil {
			return nil, err
		}
		return d.Leaving(ctx, t)
	}
	return u.vnfcs(ctx, func(c *vnfm.VNFC) bool { return heals(u.spec.Heal, c) })
}

// vnfcs are the ids of the VNFCs of which something holds.
func (u *update) vnfcs(ctx context.Context, holds func(*vnfm.VNFC) bool) ([]string, error) {
	has, err := u.engine.resourcesOf(ctx, u.instance)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range has.VNFCs {
		if c := &has.VNFCs[i]; holds(c) {
			out = append(out, c.ID)
		}
	}
	return out, nil
}
