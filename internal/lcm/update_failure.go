package lcm

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fail ends a failed operation: what was before is restored when the user wants
// that, else the instance stays as far as it came and the next update goes on.
func (u *update) fail(ctx context.Context, op *operation, before *vnfm.Instance, cause error) error {
	var invalid *vnfm.InvalidError
	if errors.As(cause, &invalid) {
		return u.refuse(ctx, op, before, cause)
	}
	u.engine.takeReport(ctx, op, cause)
	interrupted := errors.Is(ctx.Err(), context.Canceled)
	if u.spec.OnFailure != vnfm.OnFailureRollback || interrupted || before.PackageID == "" {
		return u.engine.keepFailed(ctx, op, cause)
	}
	back, stop := vnfm.RollbackContext(ctx, rollbackLimit)
	defer stop()
	if err := op.rollBack(back, cause); err != nil {
		return u.engine.keepFailed(back, op, joinErrors(cause, err))
	}
	if err := u.restorePrevious(back, op, before); err != nil {
		return u.engine.keepFailed(back, op, errors.Join(cause, fmt.Errorf("restoring the state before the operation: %w", vnfm.WithCause(back, err))))
	}
	u.instance.Value.Status = vnfm.StatusInstantiated
	if err := saveInstance(back, u.store, u.instance); err != nil {
		return errors.Join(cause, err)
	}
	if err := op.enter(back, vnfm.StateRolledBack, cause); err != nil {
		return errors.Join(cause, err)
	}
	i := u.instance.Value
	return &vnfm.OperationError{Operation: op.snapshot(), Instance: &i, Err: cause}
}

// refuse ends an operation that was given what cannot be done, before anything was
// done for it: the instance is what it was.
func (u *update) refuse(ctx context.Context, op *operation, before *vnfm.Instance, cause error) error {
	ctx, cancel := records.Detached(ctx)
	defer cancel()
	for _, next := range []vnfm.OperationState{vnfm.StateFailedTemp, vnfm.StateFailed} {
		if err := op.enter(ctx, next, cause); err != nil {
			return errors.Join(cause, err)
		}
	}
	copyFindings(before, &u.instance.Value)
	u.instance.Value, u.secrets = *before, u.secretsBefore
	if err := u.engine.sealParams(ctx, u.instance, sealed{u.spec.Management, u.secrets}); err != nil {
		return errors.Join(cause, err)
	}
	if err := saveInstance(ctx, u.store, u.instance); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// restorePrevious applies the instance as its record was before the operation.
func (u *update) restorePrevious(ctx context.Context, op *operation, before *vnfm.Instance) error {
	spec := specOf(before)
	spec.InfraSecrets = u.secretsBefore
	u.passOn(&spec)
	r, problems, err := u.engine.resolve(ctx, spec)
	if err != nil {
		return err
	}
	if err := problems.Err(); err != nil {
		return err
	}
	copyFindings(before, &u.instance.Value)
	before.Connections = multivim.PlannedConnections(&u.instance.Value, spec)
	before.Cluster = addons.WantedCluster(&u.instance.Value, spec.Cluster)
	u.instance.Value, u.secrets = *before, u.secretsBefore
	if err := u.engine.sealParams(ctx, u.instance, sealed{u.spec.Management, u.secrets}); err != nil {
		return err
	}
	t, d, err := u.engine.bind(ctx, &u.instance.Value, r, spec)
	if err != nil {
		return err
	}
	// The management drivers see what is there again: what they made for what is gone
	// must go as well.
	hooked := spec
	hooked.Management, hooked.Sink = u.spec.Management, u.spec.Sink
	changes := finishedChanges(nil, &plannedOperation{Type: op.kind(), to: r})
	hook := hooks.Operation{Kind: op.kind(), Package: r.pkg, Flavour: r.flavour, Request: hooked, Changes: changes, Counts: r.counts}
	// An operation that is tried again after it was rolled back starts again.
	for _, note := range []string{noteTurns, noteRollbackTurns} {
		if op.Note(note) == "" {
			continue
		}
		if err := op.SetNote(ctx, note, ""); err != nil {
			return err
		}
	}
	replaced, err := u.takeTurns(ctx, op, &hook, replacement{note: noteRollbackTurns, next: &u.instance.Value, spec: spec, to: r})
	if err != nil {
		return err
	}
	if len(replaced) > 0 {
		if err := u.engine.callDrivers(ctx, op, hook, u.engine.management().Keepers(&hook, false), false); err != nil {
			return err
		}
	}
	if err := (hostKeys{op}).forget(ctx, replaced); err != nil {
		return err
	}
	t.Restores = true
	if err := d.Apply(ctx, t, op); err != nil {
		return err
	}
	return u.engine.runHook(ctx, op, hook, true)
}

// copyFindings carries over into an earlier record what was found out since.
func copyFindings(before, now *vnfm.Instance) {
	before.Inventory, before.DriverStates, before.HostKeys = now.Inventory, now.DriverStates, now.HostKeys
	before.RegisteredVIMID, before.Deliveries, before.ConfiguredDigest = now.RegisteredVIMID, now.Deliveries, now.ConfiguredDigest
}
