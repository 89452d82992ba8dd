package lcm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Instantiate implements vnfm.Manager. The record exists before the first request to the VIM,
// so that the objects of a killed process are found again.
func (e *Engine) Instantiate(ctx context.Context, spec vnfm.InstanceSpec) (*vnfm.Instance, error) {
	call := ctx
	ctx = withSecretsOf(ctx, &spec)
	s, r, err := e.prepare(ctx, &spec)
	if err != nil {
		return nil, err
	}
	if err := e.resolveConnections(ctx, s, &spec, nil); err != nil {
		return nil, err
	}
	if err := e.checkCredentials(ctx, &spec); err != nil {
		return nil, err
	}
	ctx, release, err := e.lockCreation(ctx, s, spec)
	if err != nil {
		return nil, err
	}
	en, made, err := e.claim(ctx, s, spec)
	if err != nil {
		release()
		return nil, err
	}
	i, err := e.runOnInstance(withMade(ctx, made), s, en, func(ctx context.Context) error {
		op, err := e.interrupted(ctx, s, en)
		if err != nil {
			return err
		}
		noteTriggers(&en.Value, &spec)
		work, stop := workTime(ctx, &spec)
		defer stop()
		if r, err = e.withResults(work, &en.Value, &spec, r, true); err != nil {
			return err
		}
		err = e.instantiate(work, s, en, spec, r, op)
		lookAtAnswer(call, s, &en.Value)
		return err
	})
	_ = made()
	if err == nil || errors.As(err, new(*vnfm.OperationError)) {
		e.created.keep(creation{instance: en, completed: err == nil, release: release})
	} else {
		release()
	}
	return i, err
}

// lookAtAnswer asks for what the answer of a call tells of an instance, while its leases are given back.
func lookAtAnswer(ctx context.Context, s store.Store, i *vnfm.Instance) {
	if i.Cluster == nil {
		store.ReadAhead(ctx, s, store.Wanted{Kind: store.KindVIM, ID: i.VIMID}, store.Wanted{Kind: store.KindPackage, ID: i.PackageID})
	}
}

type madeKey struct{}

// withMade is the context of a creation whose record is being made: made waits for that.
func withMade(ctx context.Context, made func() error) context.Context {
	return context.WithValue(ctx, madeKey{}, made)
}

// runOnInstance runs work under the lease of an instance, on its record as it is then. It waits
// for the lease until the lock timeout of ctx.
func (e *Engine) runOnInstance(
	ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], work func(ctx context.Context) error, next ...store.Wanted,
) (*vnfm.Instance, error) {
	var done func()
	err := vnfm.RetryWhileBusy(ctx, func() error {
		held, release, err := e.lockForChange(ctx, s, leaseOf(en.Rec.ID), en.Value.Noun()+" "+strconv.Quote(en.Value.Name))
		if err == nil {
			ctx, done = held, release
		}
		return e.sayWhatRuns(ctx, s, en, err)
	})
	if err != nil {
		return nil, err
	}
	ctx, released := vnfm.WithBackground(ctx)
	defer func() {
		var all sync.WaitGroup
		defer all.Wait()
		all.Go(released)
		all.Go(done)
	}()
	if made, isNew := ctx.Value(madeKey{}).(func() error); isNew {
		if err := made(); err != nil {
			return nil, err
		}
	}
	// The lease is held: it is read again.
	store.ReadAhead(ctx, s, append(next, store.Wanted{Kind: store.KindInstance, ID: en.Rec.ID}, store.Wanted{Kind: store.KindOperation, Owner: en.Rec.ID})...)
	ctx, heeded := heedCancellation(ctx, s, en.Rec.ID)
	defer heeded()
	ctx, settle := vnfm.WithTrailing(ctx)
	defer settle()
	fresh, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, en.Rec.ID)
	if err != nil {
		return nil, err
	}
	*en = *fresh
	if e.attachResults(ctx, en); en.Value.Results == nil {
		// The operation tells what else is wrong with the record.
		if _, _, err := e.bindRecord(ctx, en); err != nil || en.Value.Results == nil {
			en.Value.Results = vnfm.NewResults(nil)
		}
	}
	if err := work(ctx); err != nil {
		return nil, vnfm.ConcealedIn(ctx).Error(err)
	}
	return &en.Value, nil
}

// sayWhatRuns completes a BusyError with the operation that the holder of the lease of an instance runs.
func (e *Engine) sayWhatRuns(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], err error) error {
	var busy *vnfm.BusyError
	if errors.As(err, &busy) {
		if op, lookErr := e.unfinished(ctx, s, en); lookErr == nil && op != nil {
			busy.Doing = op.kind()
		}
	}
	return err
}

// instantiate resumes the INSTANTIATE operation of an instance, or runs one when that is nil.
func (e *Engine) instantiate(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], spec vnfm.InstanceSpec, r *resolution, op *operation) (err error) {
	if err := e.checkInstance(ctx, s, en); err != nil {
		return err
	}
	begins := func(ctx context.Context) error { return op.enter(ctx, vnfm.StateProcessing, nil) }
	if op == nil {
		e.deciding.takeAhead(ctx, s)
		op = e.newOperation(ctx, s, en, vnfm.OpInstantiate, map[string]any{
			paramFlavour: r.flavour.ID, "instantiation_level_id": r.levelID, paramPackage: r.pkg.ID,
		})
		begins = op.start
	}
	describeNew(&en.Value, spec, r)
	en.Value.Status = vnfm.StatusProcessing
	if err := e.sealParams(ctx, en, sealed{spec.Management, spec.InfraSecrets}); err != nil {
		return err
	}
	var both errgroup.Group
	both.Go(func() error { return saveInstance(ctx, s, en) })
	both.Go(func() error { return begins(ctx) })
	if err := both.Wait(); err != nil {
		return err
	}
	o := hooks.Operation{Kind: vnfm.OpInstantiate, Package: r.pkg, Flavour: r.flavour, Request: spec}
	return op.traced(ctx, func(ctx context.Context) error {
		t, d, err := e.makeInstance(ctx, op, o, r)
		if err != nil {
			return e.failInstantiate(ctx, op, o, d, t, err)
		}
		en.Value.ConfiguredDigest = paramsDigest(t.DigestKey, spec.Management)
		en.Value.Generation++
		return e.complete(ctx, op, vnfm.StatusInstantiated)
	})
}

// makeInstance does the work of a creation between its hooks. Without a driver nothing was made.
func (e *Engine) makeInstance(ctx context.Context, op *operation, o hooks.Operation, r *resolution) (*vnfm.Target, vnfm.InfraDriver, error) {
	// The record refers to it since it was saved.
	if err := e.confirmReferences(ctx, op.store, referencesOf(&o.Request)); err != nil {
		return nil, nil, err
	}
	if err := e.checkHosts(ctx, op, o); err != nil {
		return nil, nil, err
	}
	t, d, err := e.bind(ctx, &op.instance.Value, r, o.Request)
	if err != nil {
		return nil, nil, err
	}
	if err := e.runHook(ctx, op, o, false); err != nil {
		return t, d, err
	}
	if err := d.Apply(ctx, t, op); err != nil {
		return t, d, err
	}
	return t, d, e.runHook(ctx, op, o, true)
}

// complete ends an operation that did its work. When that cannot be written the
// instance is kept like a failed one: the objects exist, and Terraform must know. What is read next is asked for once the record is written.
func (e *Engine) complete(ctx context.Context, op *operation, status vnfm.InstanceStatus, next ...store.Wanted) error {
	op.instance.Value.Status = status
	if err := saveInstance(ctx, op.store, op.instance); err != nil {
		return e.keepFailed(ctx, op, vnfm.WithCause(ctx, err))
	}
	store.ReadAhead(ctx, op.store, next...)
	if err := op.enter(ctx, vnfm.StateCompleted, nil); err != nil {
		return e.keepFailed(ctx, op, vnfm.WithCause(ctx, err))
	}
	return nil
}

// failInstantiate ends a failed creation in one of three ways: nothing was made and the record
// is removed; everything is rolled back; or the objects stay and the next apply resumes. Without
// a driver the VIM can be neither observed nor cleaned up.
func (e *Engine) failInstantiate(ctx context.Context, op *operation, o hooks.Operation, d vnfm.InfraDriver, t *vnfm.Target, cause error) error {
	cause = vnfm.WithCause(ctx, cause)
	interrupted := errors.Is(ctx.Err(), context.Canceled)
	e.takeReport(ctx, op, cause)
	noting, noted := records.Detached(ctx)
	defer noted()
	// Nothing is taken back before the record says so: the lease may be lost unnoticed.
	if err := op.fail(noting, cause); err != nil || (d == nil && op.madeAnything()) {
		return e.keepFailed(ctx, op, joinErrors(cause, err))
	}
	if !op.madeAnything() || e.removeIfNothingMade(ctx, op, d, t, interrupted) {
		last, cancel := records.Detached(ctx)
		defer cancel()
		if err := e.removeRecords(last, op.store, op.instance); err != nil {
			return errors.Join(cause, err)
		}
		return cause
	}
	if o.Request.OnFailure == vnfm.OnFailureRollback && !interrupted {
		return e.rollBackInstantiate(ctx, op, o, d, t, cause)
	}
	return e.keepFailed(ctx, op, cause)
}

// keepFailed leaves an instance in FAILED_TEMP and tells what exists. It is the
// last thing that an operation does, also when ctx has ended. A record whose lease
// was lost is not written: another process may have brought it further.
func (e *Engine) keepFailed(ctx context.Context, op *operation, cause error) error {
	e.takeReport(ctx, op, cause)
	ctx, cancel := records.Detached(ctx)
	defer cancel()
	err := op.fail(ctx, cause)
	op.instance.Value.Status = vnfm.StatusFailedTemp
	if err == nil {
		err = saveInstance(ctx, op.store, op.instance)
	}
	if err != nil && !leaseLost(err) {
		return errors.Join(cause, err)
	}
	i := op.instance.Value
	return &vnfm.OperationError{Operation: op.snapshot(), Instance: &i, Err: joinErrors(cause, err)}
}

// joinErrors joins a cause with a later error, unless the cause contains it.
func joinErrors(cause, err error) error {
	if err == nil || errors.Is(cause, err) || (leaseLost(cause) && leaseLost(err)) {
		return cause
	}
	return errors.Join(cause, err)
}

// removeIfNothingMade reports whether the failed operation made nothing of the package,
// and removes what it made besides, such as the namespace. When the VIM does not
// answer something is assumed to exist: an object that is forgotten is worse than
// a record too many. A user who interrupts is not kept waiting for a removal.
func (e *Engine) removeIfNothingMade(ctx context.Context, op *operation, d vnfm.InfraDriver, t *vnfm.Target, interrupted bool) bool {
	look, cancel := records.Detached(ctx)
	defer cancel()
	seen, err := d.Observe(look, t)
	if err != nil || len(seen.Objects) > 0 {
		return false
	}
	if interrupted {
		return !op.knowsObjects()
	}
	back, stop := vnfm.CleanupContext(ctx, tidyLimit)
	defer stop()
	return d.Terminate(back, t, removeAll, op) == nil
}

// removeAll is how the objects of a failed creation are removed: they are not in use yet.
var removeAll = vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDeleteNew}

// rollbackLimit bounds a rollback after an operation without a time limit. tidyLimit bounds the removal of what a
// creation has made besides the objects of its package, which is next to nothing: the time that the user gave may be spent.
const rollbackLimit, tidyLimit = 5 * time.Minute, time.Minute

// workTime is the context for the work of an operation: with on_failure = "rollback" it keeps time for that.
func workTime(ctx context.Context, spec *vnfm.InstanceSpec) (context.Context, context.CancelFunc) {
	if spec.OnFailure != vnfm.OnFailureRollback {
		return context.WithCancel(ctx)
	}
	return vnfm.KeepRollbackTime(ctx)
}

func (e *Engine) rollBackInstantiate(ctx context.Context, op *operation, o hooks.Operation, d vnfm.InfraDriver, t *vnfm.Target, cause error) error {
	ctx, cancel := vnfm.RollbackContext(ctx, rollbackLimit)
	defer cancel()
	if err := op.rollBack(ctx, cause); err != nil {
		return e.keepFailed(ctx, op, joinErrors(cause, err))
	}
	// Objects of management drivers outside of the VIM are removed as in a termination.
	o.Kind = vnfm.OpTerminate
	err := e.runHook(ctx, op, o, false)
	if err == nil {
		err = d.Terminate(ctx, t, removeAll, op)
	}
	if err == nil {
		err = e.runHook(ctx, op, o, true)
	}
	if err != nil {
		return e.keepFailed(ctx, op, errors.Join(cause, fmt.Errorf("removing what had been made: %w", vnfm.WithCause(ctx, err))))
	}
	if err := op.enter(ctx, vnfm.StateRolledBack, cause); err != nil {
		return errors.Join(cause, err)
	}
	if err := e.removeRecords(ctx, op.store, op.instance); err != nil {
		return errors.Join(cause, err)
	}
	return &vnfm.RolledBackError{Err: cause}
}
