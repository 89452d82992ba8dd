package lcm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

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

// paramConfigures marks the operation that has management drivers work with other
// parameters.
const paramConfigures = "management_params"

// configure has the management drivers of an instance work with parameters that have
// changed, whether or not the VNFD names them for a hook of this operation: what they
// have made must not stay as it was.
func (u *update) configure(ctx context.Context, op *operation, _ *plannedOperation) error {
	// Those that the hook itself runs are done there; credentials are none of this.
	o := u.hookOperation(op)
	done := map[string]bool{vnfm.CredentialsSender: true}
	for _, b := range u.engine.management().At(&o, true) {
		done[b.Name] = true
	}
	var drivers []hooks.Binding
	for _, b := range u.engine.management().All(u.wanted.flavour) {
		if !done[b.Name] {
			done[b.Name] = true
			drivers = append(drivers, hooks.Binding{Name: b.Name, Driver: b.Driver, Hook: vnfm.Hook{Name: hooks.Name(vnfm.OpModifyInfo, true)}})
		}
	}
	i := &u.instance.Value
	// Until all of them are done it is not known what is configured, whatever is asked for next.
	i.ConfiguredDigest = ""
	if err := u.engine.callDrivers(ctx, op, o, drivers, true); err != nil {
		return err
	}
	i.ConfiguredDigest = paramsDigest(i.DigestKey, u.spec.Management)
	return nil
}
