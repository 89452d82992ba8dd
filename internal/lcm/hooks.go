package lcm

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// management are the management drivers.
func (e *Engine) management() hooks.Drivers { return e.cfg.Management }

// runHook calls the management drivers at one end of an operation.
func (e *Engine) runHook(ctx context.Context, op *operation, o hooks.Operation, end bool) error {
	return e.callDrivers(ctx, op, o, e.management().At(&o, end), end)
}

func (e *Engine) callDrivers(ctx context.Context, op *operation, o hooks.Operation, drivers []hooks.Binding, end bool) error {
	if len(drivers) == 0 {
		return nil
	}
	if err := e.ensureKey(ctx, &op.instance.Value); err != nil {
		return err
	}
	leaving, _, err := hooks.Leaving(op)
	if err != nil {
		return err
	}
	return hooks.Run(ctx, &o, drivers, vnfm.HookCall{
		End: end, Instance: &op.instance.Value, Leaving: leaving, DigestKey: op.instance.Value.DigestKey, Recorder: op,
		Resources: func(ctx context.Context) (*vnfm.ResourceInfo, error) { return e.resourcesOf(ctx, op.instance) },
		VIMs:      e,
		HostKeys:  hostKeys{op},
		Kubeconfig: func(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.Kubeconfig, error) {
			return e.WorkloadKubeconfig(ctx, ref, vnfm.KubeconfigSpec{})
		},
	}, func(driver string) vnfm.DriverState { return driverState{operation: op, driver: driver} })
}

// checkHooks finds what a request and the planned instance lack for their management drivers.
func (e *Engine) checkHooks(r *resolution, request *vnfm.InstanceSpec, planned *vnfm.Preview, problems *vnfm.Problems) {
	e.management().Check(vnfm.HookCheck{Request: request, Package: r.pkg, Flavour: r.flavour, Counts: r.counts, Planned: planned}, problems)
}

// resourcesOf looks what an instance has on its VIM, by its record.
func (e *Engine) resourcesOf(ctx context.Context, en *records.Entry[vnfm.Instance]) (*vnfm.ResourceInfo, error) {
	t, d, err := e.bindRecord(ctx, en)
	if err != nil {
		return nil, err
	}
	return d.Resources(ctx, t)
}

// noteLeaving notes which VNFCs an operation takes away, for the drivers that are called
// before and after it. Nothing is looked up where there are none, and an operation that is
// continued goes on with those that were noted.
func (e *Engine) noteLeaving(ctx context.Context, op *operation, o hooks.Operation, find func(ctx context.Context) ([]string, error)) ([]string, error) {
	if !e.management().HasAny(&o) {
		return nil, nil
	}
	if ids, noted, err := hooks.Leaving(op); noted || err != nil {
		return ids, err
	}
	ids, err := find(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return ids, hooks.NoteLeaving(ctx, op, ids)
}

// vnfcsOf are the ids of the VNFCs of an instance that are chosen.
func (e *Engine) vnfcsOf(ctx context.Context, en *records.Entry[vnfm.Instance], chosen func(*vnfm.VNFC) bool) ([]string, error) {
	has, err := e.resourcesOf(ctx, en)
	if err != nil {
		return nil, err
	}
	var out []string
	for n := range has.VNFCs {
		if chosen(&has.VNFCs[n]) {
			out = append(out, has.VNFCs[n].ID)
		}
	}
	return out, nil
}
