package lcm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Update implements vnfm.Manager.
func (e *Engine) Update(ctx context.Context, id string, spec vnfm.InstanceSpec) (*vnfm.Instance, error) {
	ctx = withSecretsOf(ctx, &spec)
	s, r, err := e.prepare(ctx, &spec)
	if err != nil {
		return nil, err
	}
	en, err := get[vnfm.Instance](ctx, s, store.KindInstance, id)
	lost := errors.Is(err, vnfm.ErrNotFound)
	if err != nil && !lost {
		return nil, err
	}
	var present map[string]vnfm.Connection
	if !lost {
		present = en.value.Connections
	}
	if err := e.settleConnections(ctx, &spec, present); err != nil {
		return nil, err
	}
	if lost {
		if en, err = e.restore(ctx, s, id, spec, r); err != nil {
			return nil, err
		}
	}
	if err := unchangeable(&en.value, spec); err != nil {
		return nil, err
	}
	return e.runOnInstance(ctx, s, en, func(ctx context.Context) error {
		u := &update{engine: e, store: s, instance: en, spec: spec, wanted: r}
		if err := u.run(ctx); err != nil {
			return err
		}
		if err := e.leavePackages(ctx, s); err != nil {
			return err
		}
		return e.leaveCharts(ctx, s)
	})
}

// restore writes the record of an instance that Terraform knows and the store has
// lost. What the VIM holds is found by its labels, and it tells the key of the digests; the
// update that follows repairs whatever differs.
func (e *Engine) restore(ctx context.Context, s store.Store, id string, spec vnfm.InstanceSpec, r *resolution) (*entry[vnfm.Instance], error) {
	en := newInstance(id, spec)
	en.value.Status, en.value.Acknowledged = vnfm.StatusFailedTemp, true
	en.value.Generation = spec.KnownGeneration
	describe(&en.value, spec, r)
	var err error
	if en.value.DigestKey, err = e.keptKey(ctx, id, spec, r); err != nil {
		return nil, err
	}
	if err := e.sealParams(ctx, en, sealed{spec.Management, spec.InfraSecrets}); err != nil {
		return nil, err
	}
	return en, en.create(ctx, s)
}

// update leads one instance to a spec, one LCM operation after the other.
type update struct {
	engine   *Engine
	store    store.Store
	instance *entry[vnfm.Instance]
	spec     vnfm.InstanceSpec
	wanted   *resolution
	// secrets are the secret parameters that the infra driver has applied, and secretsBefore
	// those of before the operation that runs.
	secrets, secretsBefore map[string]any
	// pending is an operation that an earlier update did not finish.
	pending *operation
	// applied is set once all objects were applied: there is nothing to repair.
	applied bool
	// whole is set once everything was looked at and nothing was to be repaired.
	whole bool
	// departing, when set, says which VNFCs the operation that begins next takes away.
	departing func(ctx context.Context) ([]string, error)
}

func (u *update) run(ctx context.Context) error {
	pending, err := u.engine.unfinished(ctx, u.store, u.instance)
	if err != nil {
		return err
	}
	if pending != nil {
		if pending.kind() == vnfm.OpInstantiate {
			return u.engine.instantiate(ctx, u.store, u.instance, u.spec, u.wanted)
		}
		if err := pending.settle(ctx); err != nil {
			return err
		}
		u.pending = pending
	}
	if err := u.engine.checkInstance(ctx, u.store, u.instance); err != nil {
		return err
	}
	// What cannot be opened any more is applied anew: the request has all of it.
	if had, err := u.engine.openParams(ctx, u.instance); err == nil {
		u.secrets = had.secrets
	}
	if err := u.seal(ctx, u.secrets); err != nil {
		return err
	}
	if err := u.finish(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{u.rotateExpired, u.modify, u.changePackage, u.connect, u.operate, u.scale, u.heal, u.repair, u.configure, u.rotate, u.deliver} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if u.pending == nil {
		return nil
	}
	return u.pending.enter(ctx, vnfm.StateFailed, errors.New("the request that it served was replaced by a later one"))
}

// seal puts the parameters that management drivers are to have and the infra driver has into
// the record.
func (u *update) seal(ctx context.Context, secrets map[string]any) error {
	return u.engine.sealParams(ctx, u.instance, sealed{u.spec.Management, secrets})
}

// modify changes what only the record holds.
func (u *update) modify(ctx context.Context) error {
	i, want := &u.instance.value, u.spec
	judged := slices.Equal(i.Readiness, want.Readiness)
	if i.Name == want.Name && i.Description == want.Description && i.OnFailure == want.OnFailure && maps.Equal(i.Metadata, want.Metadata) && judged {
		return nil
	}
	return u.operation(ctx, vnfm.OpModifyInfo, map[string]any{"name": want.Name, "description": want.Description, "metadata": want.Metadata},
		func(ctx context.Context, op *operation) error {
			i.Name, i.Description, i.Metadata, i.OnFailure, i.Readiness = want.Name, want.Description, want.Metadata, want.OnFailure, want.Readiness
			u.instance.rec.Key = keyOf(specOf(i))
			if judged {
				return nil
			}
			return u.judge(ctx, op)
		})
}

// judge waits until the objects are ready by rules that have changed; those that
// are as they were applied are not written. A change of the package that comes
// next waits by them itself, and the rules may speak of kinds that only it brings.
func (u *update) judge(ctx context.Context, op *operation) error {
	i := &u.instance.value
	if u.packageDiffers() {
		return nil
	}
	spec, r, err := u.atPresentLevels(ctx, i.OperationalState)
	if err != nil {
		return err
	}
	next := *i
	describe(&next, spec, r)
	if err := u.drive(ctx, op, &next, r, vnfm.InfraDriver.Apply); err != nil {
		return err
	}
	u.applied = true
	return nil
}

// changePackage applies another package, flavour or other parameters, at the
// scale levels of now; the wanted ones follow in an operation of their own.
func (u *update) changePackage(ctx context.Context) error {
	i := &u.instance.value
	if !u.packageDiffers() {
		return nil
	}
	kind := vnfm.OpChangePackage
	if i.PackageID == u.spec.PackageID && i.FlavourID != u.wanted.flavour.ID {
		kind = vnfm.OpChangeFlavour
	}
	spec, r, err := u.atPresentLevels(ctx, i.OperationalState)
	if err != nil {
		return err
	}
	return u.operation(ctx, kind, map[string]any{"from_package_id": i.PackageID, "package_id": spec.PackageID, "flavour_id": r.flavour.ID},
		func(ctx context.Context, op *operation) error {
			next := *i
			describe(&next, spec, r)
			// What is made on a VIM that is new to the instance must be found there.
			i.Connections, i.Cluster = next.Connections, announced(i.Cluster, next.Cluster)
			if err := u.drive(ctx, op, &next, r, vnfm.InfraDriver.Apply); err != nil {
				return err
			}
			describe(i, spec, r)
			i.Generation++
			u.applied, u.secrets = true, spec.InfraSecrets
			return u.seal(ctx, u.secrets)
		})
}

// packageDiffers reports whether package, flavour or parameters are to change.
func (u *update) packageDiffers() bool {
	i := &u.instance.value
	return i.PackageID != u.spec.PackageID || i.FlavourID != u.wanted.flavour.ID ||
		!sameParams(i.AdditionalParams, u.spec.AdditionalParams) || !sameParams(u.secrets, u.spec.InfraSecrets) || !sameConnections(i, u.spec) || !sameAddons(i, u.spec) ||
		!maps.Equal(i.Links.Managed, u.spec.Links.Managed)
}

// atPresentLevels is the wanted spec at the scale levels of now, which a scale of
// its own changes afterwards. A new VNFD that does not know them is taken at the
// wanted ones at once.
func (u *update) atPresentLevels(ctx context.Context, state vnfm.OperationalState) (vnfm.InstanceSpec, *resolution, error) {
	i, spec := &u.instance.value, u.spec
	spec.LevelID, spec.ScaleLevels = carried(i, u.wanted.pkg.Descriptor)
	spec.OperationalState = state
	r, problems, err := u.engine.resolve(ctx, spec)
	if err != nil {
		return spec, nil, err
	}
	if problems.HasErrors() {
		return u.spec, u.wanted, nil
	}
	return spec, r, nil
}

// operate starts or stops the VNFCs.
func (u *update) operate(ctx context.Context) error {
	i := &u.instance.value
	if i.OperationalState == u.spec.OperationalState {
		return nil
	}
	spec, r, err := u.atPresentLevels(ctx, u.spec.OperationalState)
	if err != nil {
		return err
	}
	return u.operation(ctx, vnfm.OpOperate, map[string]any{"change_state_to": string(u.spec.OperationalState)},
		func(ctx context.Context, op *operation) error { return u.count(ctx, op, spec, r) })
}

// scale brings the scaling aspects to the wanted levels.
func (u *update) scale(ctx context.Context) error {
	i := &u.instance.value
	if i.LevelID == u.wanted.levelID && maps.Equal(i.ScaleStatus, u.wanted.scaleStatus) {
		i.ScaleLevels = u.spec.ScaleLevels
		return nil
	}
	kind, params := scaleRequest(i, u.wanted)
	// A scale that goes on may have taken some of them away already.
	if !u.continues(kind, params) {
		if err := u.knownVictims(ctx); err != nil {
			return err
		}
	}
	u.departing = u.scaledIn
	return u.operation(ctx, kind, params, func(ctx context.Context, op *operation) error {
		if err := u.count(ctx, op, u.spec, u.wanted); err != nil {
			return err
		}
		i.Generation++
		return nil
	})
}

// knownVictims checks that the VNFCs exist that the user names to go with a scale. Those of
// a VDU that loses none say nothing.
func (u *update) knownVictims(ctx context.Context) error {
	i := &u.instance.value
	if len(u.spec.ScaleInVNFCIDs) == 0 || i.OperationalState == vnfm.Stopped {
		return nil
	}
	now, problems := vnfd.Counts(u.wanted.flavour, i.LevelID, i.ScaleLevels)
	if problems.HasErrors() {
		return nil
	}
	var victims []string
	for _, id := range u.spec.ScaleInVNFCIDs {
		if vdu := vduOf(id, u.wanted.flavour); u.wanted.counts[vdu] < now[vdu] {
			victims = append(victims, id)
		}
	}
	t, d, err := u.engine.bind(ctx, i, u.wanted, u.spec)
	if err != nil {
		return err
	}
	return known(ctx, d, t, victims, func(id string, there []string) vnfm.Problem {
		vdu := vduOf(id, u.wanted.flavour)
		there = slices.DeleteFunc(there, func(other string) bool { return vduOf(other, u.wanted.flavour) != vdu })
		return vnfm.Problem{
			Attribute: "scale_in_vnfc_ids", Summary: "VDU " + quote(vdu) + " has no VNFC " + quote(id), Detail: "its VNFCs are " + listOf(there),
		}
	})
}

// vduOf is the VDU that a VNFC is of, by its id: of several VDUs whose ids begin alike the
// one with the longest.
func vduOf(vnfc string, f *vnfm.Flavour) string {
	found := ""
	for _, id := range vduIDs(f) {
		if len(id) > len(found) && strings.HasPrefix(vnfc, id+"-") {
			found = id
		}
	}
	return found
}

// count brings the VDUs to the counts of a resolution.
func (u *update) count(ctx context.Context, op *operation, spec vnfm.InstanceSpec, r *resolution) error {
	next := u.instance.value
	describe(&next, spec, r)
	if err := u.drive(ctx, op, &next, r, vnfm.InfraDriver.Scale); err != nil {
		return err
	}
	describe(&u.instance.value, spec, r)
	return nil
}

// scaleRequest says what SOL003 would call the change: SCALE for steps of one
// aspect, SCALE_TO_LEVEL for everything else.
func scaleRequest(i *vnfm.Instance, r *resolution) (vnfm.OperationType, map[string]any) {
	changed := map[string]int{}
	for aspect, level := range r.scaleStatus {
		if i.ScaleStatus[aspect] != level {
			changed[aspect] = level - i.ScaleStatus[aspect]
		}
	}
	if i.LevelID == r.levelID && len(changed) == 1 {
		for aspect, steps := range changed {
			direction := "SCALE_OUT"
			if steps < 0 {
				direction, steps = "SCALE_IN", -steps
			}
			return vnfm.OpScale, map[string]any{"type": direction, "aspect_id": aspect, "number_of_steps": steps}
		}
	}
	return vnfm.OpScaleToLevel, map[string]any{"instantiation_level_id": r.levelID, "scale_info": r.scaleStatus}
}

// repair applies the objects that are gone or not as they were applied, and all
// of them when the instance is not whole.
func (u *update) repair(ctx context.Context) error {
	if u.applied {
		u.whole = true
		return nil
	}
	i := &u.instance.value
	t, d, err := u.engine.bind(ctx, i, u.wanted, u.spec)
	if err != nil {
		return err
	}
	cause := "an operation before it was interrupted"
	if (i.Status == vnfm.StatusInstantiated && u.pending == nil) || u.configures() {
		differing, err := differences(ctx, d, t)
		if err != nil {
			return err
		}
		if len(differing) == 0 {
			u.whole = true
			return nil
		}
		cause = "changed behind the VNF manager's back: " + strings.Join(differing, "; ")
	}
	u.departing = func(ctx context.Context) ([]string, error) {
		return u.engine.vnfcsOf(ctx, u.instance, func(c *vnfm.VNFC) bool { return c.State == vnfm.VNFCGone || c.State == vnfm.VNFCError })
	}
	return u.operation(ctx, vnfm.OpHeal, map[string]any{paramCause: cause}, func(ctx context.Context, op *operation) error {
		if err := d.Apply(ctx, t, op); err != nil {
			return err
		}
		i.Generation++
		u.applied, u.whole = true, true
		return nil
	})
}

// differences names the objects of an instance that are not as they were applied. A VIM
// that cannot be looked at keeps nobody from repairing what is seen to differ elsewhere.
func differences(ctx context.Context, d vnfm.InfraDriver, t *vnfm.Target) ([]string, error) {
	want, problems := d.Preview(ctx, t)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	seen, err := d.Observe(ctx, t)
	if seen == nil {
		return nil, err
	}
	var out []string
	for key, digest := range want.Objects {
		connection, _ := vnfm.CutConnection(key)
		switch found, ok := seen.Objects[key]; {
		case slices.Contains(seen.Unseen, connection):
		case !ok:
			out = append(out, key+" is gone")
		case found != digest:
			out = append(out, key+" "+found)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}

// drive composes a target for next and hands it to one method of the driver.
func (u *update) drive(ctx context.Context, op *operation, next *vnfm.Instance, r *resolution,
	method func(vnfm.InfraDriver, context.Context, *vnfm.Target, vnfm.Recorder) error,
) error {
	t, d, err := u.engine.bind(ctx, next, r, u.spec)
	if err != nil {
		return err
	}
	return method(d, ctx, t, op)
}

// operation runs one LCM operation: it takes up the pending one of that type or
// begins a new one, and ends it.
func (u *update) operation(ctx context.Context, kind vnfm.OperationType, params map[string]any, work func(context.Context, *operation) error) error {
	op, err := u.takeUp(ctx, kind, params)
	if err != nil {
		return err
	}
	return u.conduct(ctx, op, work)
}

// conduct leads an operation to its end.
func (u *update) conduct(ctx context.Context, op *operation, work func(context.Context, *operation) error) error {
	kind, before := op.kind(), u.instance.value
	departing := u.departing
	u.departing, u.secretsBefore = nil, u.secrets
	if err := op.enter(ctx, vnfm.StateProcessing, nil); err != nil {
		return err
	}
	if err := u.hooked(ctx, op, departing, work); err != nil {
		return u.fail(ctx, op, &before, becauseOf(ctx, err))
	}
	status := vnfm.StatusInstantiated
	if !u.applied && !u.whole && (kind == vnfm.OpModifyInfo || u.pending != nil) {
		// What an earlier operation left undone is repaired after this one only.
		status = before.Status
	}
	return u.engine.complete(ctx, op, status)
}

// keptWorked is the note of an operation whose work is done: nothing but its last hook
// is left.
const keptWorked = "worked"

// hooked does work between the hooks of its operation.
func (u *update) hooked(ctx context.Context, op *operation, departing func(context.Context) ([]string, error), work func(context.Context, *operation) error) error {
	a := u.around(op)
	if departing != nil {
		ids, err := u.engine.depart(ctx, op, a, departing)
		if err != nil {
			return fmt.Errorf("looking which VNFCs leave: %w", err)
		}
		if op.kind() != vnfm.OpHeal && len(ids) > 0 {
			// Those for which the drivers have made ready, and no others.
			u.spec.ScaleInVNFCIDs = ids
		}
	}
	if op.Kept(keptWorked) != "" {
		return u.engine.hook(ctx, op, a, true)
	}
	if err := u.engine.hook(ctx, op, a, false); err != nil {
		return err
	}
	if err := work(ctx, op); err != nil {
		return err
	}
	if len(u.engine.at(a.flavour, &a.request, a.kind, true)) == 0 {
		return nil
	}
	// The record first: whoever continues takes it for what the work has led to. Should this
	// process be killed, a plan would find nothing to do but for the status.
	u.instance.value.Status = vnfm.StatusProcessing
	if err := saveInstance(ctx, u.store, u.instance); err != nil {
		return err
	}
	if err := op.Keep(ctx, keptWorked, "done"); err != nil {
		return err
	}
	return u.engine.hook(ctx, op, a, true)
}

// around is what the hooks of an operation of this update need.
func (u *update) around(op *operation) around {
	return around{kind: op.kind(), pkg: u.wanted.pkg, flavour: u.wanted.flavour, request: u.spec}
}

// finish brings an operation to its end of which nothing but the last hook is left: it
// is not done again in another one, whose hooks would not know what it did.
func (u *update) finish(ctx context.Context) error {
	op := u.pending
	if op == nil || op.Kept(keptWorked) == "" {
		return nil
	}
	u.pending, u.whole = nil, true
	err := u.conduct(ctx, op, func(context.Context, *operation) error { return nil })
	u.whole = false
	return err
}

// scaledIn are the VNFCs that a scale takes away.
func (u *update) scaledIn(ctx context.Context) ([]string, error) {
	next := u.instance.value
	describe(&next, u.spec, u.wanted)
	t, d, err := u.engine.bind(ctx, &next, u.wanted, u.spec)
	if err != nil {
		return nil, err
	}
	return d.Leaving(ctx, t)
}

func (u *update) takeUp(ctx context.Context, kind vnfm.OperationType, params map[string]any) (*operation, error) {
	if u.continues(kind, params) {
		op := u.pending
		u.pending = nil
		op.occ.value.Parameters = params
		return op, nil
	}
	return u.engine.begin(ctx, u.store, u.instance, kind, params)
}

// fail ends a failed operation: what was before is restored when the user wants
// that, else the instance stays as far as it came and the next update goes on.
func (u *update) fail(ctx context.Context, op *operation, before *vnfm.Instance, cause error) error {
	var invalid *vnfm.InvalidError
	if errors.As(cause, &invalid) {
		return u.refuse(ctx, op, before, cause)
	}
	interrupted := errors.Is(ctx.Err(), context.Canceled)
	if u.spec.OnFailure != vnfm.OnFailureRollback || interrupted || before.PackageID == "" {
		return u.engine.keepFailed(ctx, op, cause)
	}
	back, stop := vnfm.Overtime(ctx, rollbackLimit)
	defer stop()
	if err := op.rollBack(back, cause); err != nil {
		return u.engine.keepFailed(back, op, and(cause, err))
	}
	if err := u.goBack(back, op, before); err != nil {
		return u.engine.keepFailed(back, op, errors.Join(cause, fmt.Errorf("returning to what was before: %w", err)))
	}
	u.instance.value.Status = vnfm.StatusInstantiated
	if err := saveInstance(back, u.store, u.instance); err != nil {
		return errors.Join(cause, err)
	}
	if err := op.enter(back, vnfm.StateRolledBack, cause); err != nil {
		return errors.Join(cause, err)
	}
	i := u.instance.value
	return &vnfm.OperationError{Operation: op.snapshot(), Instance: &i, Err: cause}
}

// refuse ends an operation that was given what cannot be done, before anything was
// done for it: the instance is what it was.
func (u *update) refuse(ctx context.Context, op *operation, before *vnfm.Instance, cause error) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	for _, next := range []vnfm.OperationState{vnfm.StateFailedTemp, vnfm.StateFailed} {
		if err := op.enter(ctx, next, cause); err != nil {
			return errors.Join(cause, err)
		}
	}
	keepKnown(before, &u.instance.value)
	u.instance.value, u.secrets = *before, u.secretsBefore
	if err := u.seal(ctx, u.secrets); err != nil {
		return errors.Join(cause, err)
	}
	if err := saveInstance(ctx, u.store, u.instance); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// goBack applies the instance as its record was before the operation.
func (u *update) goBack(ctx context.Context, op *operation, before *vnfm.Instance) error {
	spec := specOf(before)
	spec.InfraSecrets = u.secretsBefore
	spec.ForceConflicts, spec.AdoptExisting, spec.ReplaceObjects = u.spec.ForceConflicts, u.spec.AdoptExisting, u.spec.ReplaceObjects
	r, problems, err := u.engine.resolve(ctx, spec)
	if err != nil {
		return err
	}
	if err := problems.Err(); err != nil {
		return err
	}
	keepKnown(before, &u.instance.value)
	before.Connections = wantedConnections(&u.instance.value, spec)
	before.Cluster = wantedCluster(&u.instance.value, spec.Cluster)
	u.instance.value, u.secrets = *before, u.secretsBefore
	if err := u.seal(ctx, u.secrets); err != nil {
		return err
	}
	t, d, err := u.engine.bind(ctx, &u.instance.value, r, spec)
	if err != nil {
		return err
	}
	if err := d.Apply(ctx, t, op); err != nil {
		return err
	}
	// The management drivers see what is there again: what they made for what is gone
	// must go as well.
	spec.Management, spec.Sink = u.spec.Management, u.spec.Sink
	return u.engine.hook(ctx, op, around{kind: op.kind(), pkg: r.pkg, flavour: r.flavour, request: spec}, true)
}

// keepKnown carries over into an earlier record what was found out since.
func keepKnown(before, now *vnfm.Instance) {
	before.Inventory, before.DriverStates, before.HostKeys = now.Inventory, now.DriverStates, now.HostKeys
	before.RegisteredVIMID, before.Deliveries, before.ConfiguredDigest = now.RegisteredVIMID, now.Deliveries, now.ConfiguredDigest
}

func sameParams(a, b map[string]any) bool {
	return (len(a) == 0 && len(b) == 0) || reflect.DeepEqual(normalise(a), normalise(b))
}
