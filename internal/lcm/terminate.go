package lcm

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terminate implements vnfm.Manager. An operation that was left in FAILED_TEMP is
// given up first: terminating resolves it.
func (e *Engine) Terminate(ctx context.Context, id string, spec vnfm.TerminateSpec) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	en, err := get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		if done, lookErr := e.terminated(ctx, s, id); done || lookErr != nil {
			return lookErr
		}
	}
	if err != nil {
		return err
	}
	_, err = e.runOnInstance(ctx, s, en, func(ctx context.Context) error {
		return e.terminate(ctx, s, en, spec)
	})
	if errors.Is(err, vnfm.ErrNotFound) {
		// Whoever was waited for may have terminated it.
		if done, lookErr := e.terminated(ctx, s, id); done || lookErr != nil {
			return lookErr
		}
	}
	if err != nil {
		return err
	}
	if err := e.leavePackages(ctx, s); err != nil {
		return err
	}
	return e.leaveCharts(ctx, s)
}

func (e *Engine) terminate(ctx context.Context, s store.Store, en *entry[vnfm.Instance], spec vnfm.TerminateSpec) error {
	op, err := e.unfinished(ctx, s, en)
	if err != nil {
		return err
	}
	if op != nil {
		if err := op.settle(ctx); err != nil {
			return err
		}
		if op.kind() != vnfm.OpTerminate {
			if err := op.enter(ctx, vnfm.StateFailed, errors.New("given up because the instance is terminated")); err != nil {
				return err
			}
			op = nil
		}
	}
	if op == nil {
		op, err = e.begin(ctx, s, en, vnfm.OpTerminate, map[string]any{
			"termination_type": string(spec.Type), "volumes": string(spec.Volumes), paramVIM: en.value.VIMID,
		})
		if err != nil {
			return err
		}
	}
	if err := op.enter(ctx, vnfm.StateProcessing, nil); err != nil {
		return err
	}
	if err := e.remove(ctx, en, spec, op); err != nil {
		return e.keepFailed(ctx, op, becauseOf(ctx, err))
	}
	if err := op.enter(ctx, vnfm.StateCompleted, nil); err != nil {
		return err
	}
	return e.forget(ctx, s, en, op.occ.rec.ID)
}

// paramVIM is the parameter of a TERMINATE operation that names the VIM.
const paramVIM = "vim_id"

// terminated reports whether an instance without a record was terminated: its
// TERMINATE operation stays until the VIM is deregistered, for a Terraform whose
// provider was killed before it could answer.
func (e *Engine) terminated(ctx context.Context, s store.Store, id string) (bool, error) {
	occs, err := list[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation, Owner: id})
	if err != nil {
		return false, err
	}
	for _, occ := range occs {
		if occ.value.Type == vnfm.OpTerminate && occ.value.State == vnfm.StateCompleted {
			return true, nil
		}
	}
	return false, nil
}

// forgetTerminated removes the operations of instances that were terminated on a VIM.
func (e *Engine) forgetTerminated(ctx context.Context, s store.Store, vimID string) error {
	occs, err := list[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation})
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, occ := range occs {
		if occ.value.Type == vnfm.OpTerminate && occ.value.Parameters[paramVIM] == vimID {
			gone[occ.value.InstanceID] = true
		}
	}
	for _, occ := range occs {
		if !gone[occ.value.InstanceID] {
			continue
		}
		if err := s.Delete(ctx, store.KindOperation, occ.rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("removing the operations of a terminated VNF instance: %w", err)
		}
	}
	return nil
}

// remove lets the driver terminate. The package may have been lost with the store:
// inventory and labels are enough to find what must go.
func (e *Engine) remove(ctx context.Context, en *entry[vnfm.Instance], spec vnfm.TerminateSpec, op *operation) error {
	want := specOf(&en.value)
	r, problems, err := e.resolve(ctx, want)
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return err
	}
	if r == nil || problems.HasErrors() || err != nil {
		r = &resolution{}
	}
	t, d, err := e.bind(ctx, &en.value, r, want)
	if err != nil {
		return err
	}
	if err := e.hook(ctx, op, r.flavour, want, false); err != nil {
		return err
	}
	if err := d.Terminate(ctx, t, spec, op); err != nil {
		return err
	}
	return e.hook(ctx, op, r.flavour, want, true)
}
