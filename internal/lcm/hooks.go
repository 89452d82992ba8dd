package lcm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

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
	// Drivers may take their time.
	if err := op.saveKnown(ctx); err != nil {
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

// checkHosts has the management drivers look at the user's hosts before anything of an instance exists.
func (e *Engine) checkHosts(ctx context.Context, op *operation, o hooks.Operation) error {
	problems, err := e.management().CheckHosts(ctx, vnfm.HostCheck{Package: o.Package, Flavour: o.Flavour, HostKeys: hostKeys{op}}, o.Request.Management)
	if err != nil {
		return err
	}
	return problems.Err()
}

// hostCheckPatience bounds how long a plan asks the user's hosts.
const hostCheckPatience = 30 * time.Second

// checkHostsAtPlan has the management drivers look at the user's hosts while an instance is planned. A host that cannot be asked is a
// warning: the same apply may create it, or reach it from elsewhere.
func (e *Engine) checkHostsAtPlan(ctx context.Context, r *resolution, spec *vnfm.InstanceSpec, keys map[string]string) vnfm.Problems {
	if spec.SecretsLater || len(spec.ParamsLater) > 0 {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, hostCheckPatience)
	defer cancel()
	problems, err := e.management().CheckHosts(within, vnfm.HostCheck{Package: r.pkg, Flavour: r.flavour, HostKeys: knownKeys(keys)}, spec.Management)
	if err != nil {
		problems = append(problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeParams,
			Summary: "a host that a management driver works on was not checked", Detail: err.Error() + "; the apply checks it before it creates anything",
		})
	}
	return problems
}

// knownKeys are the keys of hosts that a plan knows. It pins none.
type knownKeys map[string]string

// Pinned implements vnfm.HostKeys.
func (k knownKeys) Pinned(name string) string { return k[name] }

// Pin implements vnfm.HostKeys.
func (knownKeys) Pin(context.Context, string, string) error { return nil }

// resourcesOf looks what an instance has on its VIM, by its record.
func (e *Engine) resourcesOf(ctx context.Context, en *records.Entry[vnfm.Instance]) (*vnfm.ResourceInfo, error) {
	t, d, err := e.bindRecord(ctx, en)
	if err != nil {
		return nil, err
	}
	return d.Resources(ctx, t)
}

// hostKeys keeps keys of hosts in the record of an operation's instance.
type hostKeys struct{ *operation }

// Pinned implements vnfm.HostKeys.
func (k hostKeys) Pinned(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.instance.Value.HostKeys[name]
}

// Pin implements vnfm.HostKeys.
func (k hostKeys) Pin(ctx context.Context, name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := maps.Clone(k.instance.Value.HostKeys)
	if keys == nil {
		keys = map[string]string{}
	}
	keys[name] = key
	return k.save(ctx, keys)
}

// forget drops the keys of VNFCs whose servers are made again: they show others afterwards.
func (k hostKeys) forget(ctx context.Context, vnfcs []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := maps.Clone(k.instance.Value.HostKeys)
	for _, id := range vnfcs {
		delete(keys, vnfm.HostKeyName(id))
	}
	if len(keys) == len(k.instance.Value.HostKeys) {
		return nil
	}
	return k.save(ctx, keys)
}

func (k hostKeys) save(ctx context.Context, keys map[string]string) error {
	var sealed map[string]string
	if len(k.instance.Rec.Sealed) > 0 {
		var err error
		if sealed, err = k.engine.openInstance(ctx, k.instance); err != nil {
			return err
		}
	}
	k.instance.Value.HostKeys = keys
	if sealed != nil {
		if err := k.engine.sealInstance(ctx, k.instance, sealed); err != nil {
			return err
		}
	}
	return saveInstance(ctx, k.store, k.instance)
}

// driverState is what one management driver keeps in the record of an operation's
// instance.
type driverState struct {
	*operation
	driver string
}

// Load implements vnfm.DriverState.
func (s driverState) Load(into any) error {
	s.mu.Lock()
	raw := s.instance.Value.DriverStates[s.driver]
	s.mu.Unlock()
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading the notes of management driver %q on the instance: %w", s.driver, err)
	}
	return nil
}

// Save implements vnfm.DriverState.
func (s driverState) Save(ctx context.Context, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	states := maps.Clone(s.instance.Value.DriverStates)
	if states == nil {
		states = vnfm.DriverStates{}
	}
	states[s.driver] = raw
	s.instance.Value.DriverStates = states
	return saveInstance(ctx, s.store, s.instance)
}
