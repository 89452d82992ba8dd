package lcm

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terminate implements vnfm.Manager. An operation that was left in FAILED_TEMP is
// given up first: terminating resolves it.
func (e *Engine) Terminate(ctx context.Context, id string, spec vnfm.TerminateSpec) error {
	ctx = vnfm.WithConcealed(ctx)
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	store.ReadAhead(ctx, s, store.Wanted{Kind: store.KindInstance, ID: id}, store.Wanted{Lease: leaseOf(id)}, store.Wanted{Lease: records.ReferencesLease})
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		if done, lookErr := e.terminated(ctx, s, id); done || lookErr != nil {
			return lookErr
		}
	}
	if err != nil {
		return err
	}
	e.catalog.ReadAhead(ctx, s, en.Value.PackageID)
	var unused errgroup.Group
	_, err = e.runOnInstance(ctx, s, en, func(held context.Context) error {
		if err := e.terminate(held, s, en, spec); err != nil {
			return err
		}
		// The lease of the instance is given back meanwhile.
		unused.Go(func() error { return e.catalog.RemoveUnused(ctx, s) })
		return nil
	}, needed(&en.Value)...)
	left := unused.Wait()
	if errors.Is(err, vnfm.ErrNotFound) {
		// The process that held the lease may have terminated it.
		if done, lookErr := e.terminated(ctx, s, id); done || lookErr != nil {
			return lookErr
		}
	}
	if err != nil {
		return err
	}
	e.created.drop(en.Rec.Key)
	return left
}

// needed are the records that an instance refers to, as a termination reads them.
func needed(i *vnfm.Instance) []store.Wanted {
	var out []store.Wanted
	for _, id := range i.VIMIDs() {
		out = append(out, store.Wanted{Kind: store.KindVIM, ID: id})
	}
	if i.PackageID != "" {
		out = append(out, store.Wanted{Kind: store.KindPackage, ID: i.PackageID})
	}
	return out
}

func (e *Engine) terminate(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], spec vnfm.TerminateSpec) error {
	if e.forgets(ctx, en.Value.VIMID, spec.OnUnreachable, spec.DefaultOnUnreachable) {
		if gone := e.allUnreachable(ctx, &en.Value); gone != nil {
			return e.forget(ctx, s, en, spec, gone)
		}
	}
	end, err := e.prepareTermination(ctx, en, spec)
	if err != nil {
		return err
	}
	if err := checkUnused(ctx, s, &en.Value); err != nil {
		return err
	}
	// The operation finds and records all other faults.
	if err := end.driver.CheckTermination(ctx, end.target, spec); errors.As(err, new(*vnfm.StrandedError)) {
		return err
	}
	op, err := e.beginTermination(ctx, s, en, spec)
	if err != nil {
		return err
	}
	return op.traced(ctx, func(ctx context.Context) error {
		if err := e.remove(ctx, end, spec, op); err != nil {
			return e.keepFailed(ctx, op, vnfm.WithCause(ctx, err))
		}
		return endTermination(ctx, s, en, op)
	})
}

// checkUnused refuses to end an instance whose cluster is a VIM that others use.
func checkUnused(ctx context.Context, s store.Store, i *vnfm.Instance) error {
	if i.RegisteredVIMID == "" {
		return nil
	}
	// Deregistering it looks again, before anything of the cluster goes.
	users, err := vimUsers(ctx, s, i.RegisteredVIMID)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return &vnfm.InUseError{Kind: "VIM that is the cluster of VNF instance " + strconv.Quote(i.Name) + ",", Name: vims.NameOf(ctx, s, i.RegisteredVIMID), By: users}
	}
	return nil
}

// beginTermination returns a TERMINATE operation in PROCESSING: the one that was interrupted, or a new one.
func (e *Engine) beginTermination(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], spec vnfm.TerminateSpec) (*operation, error) {
	op, err := e.interrupted(ctx, s, en)
	if err != nil {
		return nil, err
	}
	if op != nil && op.kind() != vnfm.OpTerminate {
		if err := op.enter(ctx, vnfm.StateFailed, errors.New("abandoned because the instance is terminated")); err != nil {
			return nil, err
		}
		op = nil
	}
	if op == nil {
		// It goes with the VIM.
		op, err = e.begin(store.Foreseeing(ctx, records.ReferencesLease), s, en, vnfm.OpTerminate, map[string]any{
			"termination_type": string(spec.Type), "volumes": string(spec.Volumes), paramVIM: en.Value.VIMID,
		})
	} else {
		err = op.enter(ctx, vnfm.StateProcessing, nil)
	}
	if err != nil {
		return nil, err
	}
	op.ends = true
	return op, nil
}

// paramVIM is the parameter of a TERMINATE operation that names the VIM.
const paramVIM = "vim_id"

// terminated reports whether an instance without a record was terminated. The TERMINATE
// operation stays until the VIM is deregistered, so that a destroy can be repeated after its
// process was killed.
func (e *Engine) terminated(ctx context.Context, s store.Store, id string) (bool, error) {
	occs, err := records.List[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation, Owner: id})
	if err != nil {
		return false, err
	}
	for _, occ := range occs {
		if occ.Value.Type == vnfm.OpTerminate && occ.Value.State == vnfm.StateCompleted {
			return true, nil
		}
	}
	return false, nil
}

// removeTerminated removes the operations of instances that were terminated on a VIM.
func (e *Engine) removeTerminated(ctx context.Context, s store.Store, vimID string) error {
	occs, err := records.List[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation})
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, occ := range occs {
		if occ.Value.Type == vnfm.OpTerminate && occ.Value.Parameters[paramVIM] == vimID {
			gone[occ.Value.InstanceID] = true
		}
	}
	var left []store.Record
	for _, occ := range occs {
		if gone[occ.Value.InstanceID] {
			left = append(left, occ.Rec)
		}
	}
	if err := removeEach(left, func(occ store.Record) error { return removeOperation(ctx, s, occ) }); err != nil {
		return fmt.Errorf("removing the operations of a terminated VNF instance: %w", err)
	}
	return nil
}

// termination is what ends an instance.
type termination struct {
	driver vnfm.InfraDriver
	target *vnfm.Target
	spec   vnfm.InstanceSpec
	// flavour is nil when the package has been lost.
	flavour *vnfm.Flavour
	pkg     *vnfm.Package
}

// prepareTermination finds what ends an instance. The package may have been lost with the
// store: inventory and labels are enough to find what must go. A forceful termination
// goes on without the parameters of a record that was edited, or of which the key is lost.
func (e *Engine) prepareTermination(ctx context.Context, en *records.Entry[vnfm.Instance], spec vnfm.TerminateSpec) (*termination, error) {
	want := specOf(&en.Value)
	params, err := e.openParams(ctx, en)
	switch {
	case err == nil:
	case spec.Type == vnfm.Forceful && (errors.As(err, new(*vnfm.EditedError)) || errors.Is(err, vnfm.ErrUnopened)):
		if spec.LeftBehind != nil {
			spec.LeftBehind("Work of Management Drivers", err.Error())
		}
	default:
		return nil, err
	}
	want.Management, want.InfraSecrets = params.management, params.secrets
	if en.Value.Recovered {
		want.Management = e.withRunParams(ctx, &en.Value, params.management)
	}
	r, problems, err := e.resolve(ctx, want)
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return nil, err
	}
	if r == nil || problems.HasErrors() || err != nil {
		r = &resolution{}
	}
	t, d, err := e.bind(ctx, &en.Value, r, want)
	if err != nil {
		return nil, err
	}
	if en.Value.Recovered && spec.Type != vnfm.Forceful {
		if err := e.checkRecoveredParams(&en.Value, r, &want); err != nil {
			return nil, err
		}
	}
	return &termination{driver: d, target: t, spec: want, flavour: r.flavour, pkg: r.pkg}, nil
}

// checkRecoveredParams finds, before anything goes, parameters that the management drivers of a termination need and that a record
// which was written again from Terraform's state cannot have: the state has no write-only arguments.
func (e *Engine) checkRecoveredParams(i *vnfm.Instance, r *resolution, want *vnfm.InstanceSpec) error {
	if r.flavour == nil {
		return nil
	}
	o := hooks.Operation{Kind: vnfm.OpTerminate, Package: r.pkg, Flavour: r.flavour, Request: *want}
	problems := e.management().CheckOperation(&o, vnfm.HookCheck{Request: want, Package: r.pkg, Flavour: r.flavour, Counts: r.counts})
	if err := problems.Err(); err != nil {
		// Not wrapped: findings about arguments are shown by themselves, without what to do about them here.
		return fmt.Errorf("the record of %s %q was lost, and a destroy receives Terraform's state alone, which has no additional_params_wo; nothing was removed: %s; "+
			"give them as management_params = { %q = { ... } } in the provider block, "+
			"or run terraform apply once, which takes these parameters from the configuration, then destroy; "+
			"or apply with termination.type = \"forceful\", with which a destroy goes on without the management drivers", i.Noun(), i.Name, err.Error(), i.Name)
	}
	return nil
}

// remove lets the driver terminate, between the hooks of the VNFD.
func (e *Engine) remove(ctx context.Context, end *termination, spec vnfm.TerminateSpec, op *operation) error {
	o := hooks.Operation{
		Kind: vnfm.OpTerminate, Package: end.pkg, Flavour: end.flavour, Request: end.spec,
		Forceful: spec.Type == vnfm.Forceful, LeftBehind: spec.LeftBehind,
	}
	if err := e.runHook(ctx, op, o, false); err != nil {
		return err
	}
	if err := end.driver.Terminate(ctx, end.target, spec, op); err != nil {
		return err
	}
	return e.runHook(ctx, op, o, true)
}
