package lcm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// noWork is the work of an operation that only its hooks do something for.
func (u *update) noWork(context.Context, *operation, *plannedOperation) error { return nil }

// modify changes what only the record holds.
func (u *update) modify(context.Context, *operation, *plannedOperation) error {
	i, want := &u.instance.Value, u.spec
	i.Name, i.Description, i.Metadata, i.Readiness = want.Name, want.Description, want.Metadata, want.Readiness
	u.instance.Rec.Key = keyOf(specOf(i))
	return nil
}

// applyInfo writes a new name to the objects that show it, and waits until all are ready, by rules
// that may have changed; those that are as they were applied are not written.
func (u *update) applyInfo(ctx context.Context, op *operation, o *plannedOperation) error {
	if err := u.modify(ctx, op, o); err != nil {
		return err
	}
	next := u.instance.Value
	describe(&next, o.spec, o.to)
	return u.drive(ctx, op, &next, o.to, vnfm.InfraDriver.Apply)
}

// announce writes down what a change of the package refers to, before anything is done for it.
func (u *update) announce(ctx context.Context, o *plannedOperation) error {
	i := &u.instance.Value
	next := *i
	describe(&next, o.spec, o.to)
	// Objects on a VIM that is new to the instance must be found there.
	i.Connections, i.Cluster = next.Connections, addons.AnnouncedCluster(i.Cluster, next.Cluster)
	if err := u.saveChanged(ctx); err != nil {
		return err
	}
	// Record and operation refer to it now.
	return u.engine.confirmReferences(ctx, u.store, referencesOf(&o.spec))
}

// saveChanged writes the record of the instance, unless that is what it says already.
func (u *update) saveChanged(ctx context.Context) error {
	is, err := json.Marshal(u.instance.Value)
	if err != nil {
		return err
	}
	if bytes.Equal(is, u.instance.Rec.Data) && bytes.Equal(u.sealedBefore, u.instance.Rec.Sealed) {
		return nil
	}
	return saveInstance(ctx, u.store, u.instance)
}

// changePackage applies another package, flavour or other parameters.
func (u *update) changePackage(ctx context.Context, op *operation, o *plannedOperation) error {
	i := &u.instance.Value
	next := *i
	describe(&next, o.spec, o.to)
	if err := u.announce(ctx, o); err != nil {
		return err
	}
	if err := u.drive(ctx, op, &next, o.to, vnfm.InfraDriver.Apply); err != nil {
		return err
	}
	describe(i, o.spec, o.to)
	noteTriggers(i, &o.spec)
	i.Generation++
	u.secrets = o.spec.InfraSecrets
	return u.engine.sealParams(ctx, u.instance, sealed{u.spec.Management, u.secrets})
}

// connect changes to which networks the external connection points lead.
func (u *update) connect(ctx context.Context, op *operation, o *plannedOperation) error {
	i := &u.instance.Value
	next := *i
	describe(&next, o.spec, o.to)
	if err := u.drive(ctx, op, &next, o.to, vnfm.InfraDriver.Apply); err != nil {
		return err
	}
	describe(i, o.spec, o.to)
	i.Generation++
	return nil
}

// operate starts or stops the VNFCs.
func (u *update) operate(ctx context.Context, op *operation, o *plannedOperation) error {
	next := u.instance.Value
	describe(&next, o.spec, o.to)
	if err := u.drive(ctx, op, &next, o.to, vnfm.InfraDriver.Scale); err != nil {
		return err
	}
	describe(&u.instance.Value, o.spec, o.to)
	return nil
}

// scale brings the VDUs to their wanted counts.
func (u *update) scale(ctx context.Context, op *operation, o *plannedOperation) error {
	if err := u.operate(ctx, op, o); err != nil {
		return err
	}
	u.instance.Value.Generation++
	return nil
}

// repair applies the objects that are gone or not as they were applied.
func (u *update) repair(ctx context.Context, op *operation, _ *plannedOperation) error {
	i := &u.instance.Value
	if err := u.drive(ctx, op, i, u.wanted, vnfm.InfraDriver.Apply); err != nil {
		return err
	}
	i.Generation++
	return nil
}

// heal replaces the VNFCs that the user names.
func (u *update) heal(ctx context.Context, op *operation, o *plannedOperation) error {
	i, request := &u.instance.Value, *u.spec.Heal
	t, d, err := u.engine.bind(ctx, i, o.to, o.spec)
	if err != nil {
		return err
	}
	t.Held, request.ID, request.Began = u.held, op.occ.Rec.ID, op.occ.Value.StartedAt
	if err := d.Heal(ctx, t, request, op); err != nil {
		return err
	}
	i.HealTrigger = request.Trigger
	i.Generation++
	return nil
}

// rotateKubeconfig has the kubeconfig of a workload cluster made again.
func (u *update) rotateKubeconfig(ctx context.Context, op *operation, _ *plannedOperation) error {
	d, err := u.engine.clusters()
	if err != nil {
		return err
	}
	i := &u.instance.Value
	vim, creds, err := u.engine.vims.Open(ctx, i.VIMID)
	if err != nil {
		return err
	}
	if err := d.RegenerateKubeconfig(ctx, vim, creds, i.ClusterRef(), i.Rotation.Before, op); err != nil {
		return err
	}
	i.Rotation = &vnfm.Rotation{Trigger: u.spec.RotationTrigger, Done: true}
	i.Generation++
	return nil
}

// configure has the management drivers of an instance work with parameters that have
// changed, whether or not the VNFD names them for a hook of this operation: what they
// have made must not stay as it was.
func (u *update) configure(ctx context.Context, op *operation, _ *plannedOperation) error {
	// Those that the hook itself runs are done there; credentials are none of this.
	o := u.hookOperation(op, u.wanted, nil)
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

// drive composes a target for next and hands it to one method of the driver.
func (u *update) drive(ctx context.Context, op *operation, next *vnfm.Instance, r *resolution,
	method func(vnfm.InfraDriver, context.Context, *vnfm.Target, vnfm.Recorder) error,
) error {
	t, d, err := u.engine.bind(ctx, next, r, u.spec)
	if err != nil {
		return err
	}
	t.Held = u.held
	return method(d, ctx, t, op)
}

// checkScaledIn checks that the VNFCs exist that the user names to go with a scale. Those of
// a VDU that loses none say nothing.
func (u *update) checkScaledIn(ctx context.Context) error {
	i := &u.instance.Value
	if len(u.spec.ScaleInVNFCIDs) == 0 || i.OperationalState == vnfm.Stopped {
		return nil
	}
	now, problems := vnfd.Counts(u.wanted.flavour, i.LevelID, i.ScaleLevels)
	if problems.HasErrors() {
		return nil
	}
	var victims []string
	for _, id := range u.spec.ScaleInVNFCIDs {
		if vdu := u.wanted.flavour.VDUOf(id); u.wanted.counts[vdu] < now[vdu] {
			victims = append(victims, id)
		}
	}
	return u.checkVNFCs(ctx, u.wanted, u.spec, victims, func(id string, there []string) vnfm.Problem {
		vdu := u.wanted.flavour.VDUOf(id)
		there = slices.DeleteFunc(there, func(other string) bool { return u.wanted.flavour.VDUOf(other) != vdu })
		return vnfm.Problem{
			Attribute: attributeScaleIn, Summary: "VDU " + strconv.Quote(vdu) + " has no VNFC " + strconv.Quote(id), Detail: "its VNFCs are " + vnfm.QuotedNames(there),
		}
	})
}

// checkHealed checks that the instance has the VNFCs that are to be replaced.
func (u *update) checkHealed(ctx context.Context, o *plannedOperation) error {
	attribute, kind := attributeHealVNFCs, "VNFC"
	if u.instance.Value.Cluster != nil {
		attribute, kind = attributeHealMachines, "machine"
	}
	return u.checkVNFCs(ctx, o.to, o.spec, u.spec.Heal.VNFCIDs, func(id string, there []string) vnfm.Problem {
		return vnfm.Problem{
			Attribute: attribute,
			Summary:   "the " + u.instance.Value.Noun() + " has no " + kind + " " + strconv.Quote(id),
			Detail:    "its " + kind + "s are " + vnfm.QuotedNames(there),
		}
	})
}

// checkVNFCs checks that the instance has VNFCs of these ids; refuse says what is wrong when one
// is none of those that are there.
func (u *update) checkVNFCs(ctx context.Context, r *resolution, spec vnfm.InstanceSpec, ids []string, refuse func(id string, there []string) vnfm.Problem) error {
	t, d, err := u.engine.bind(ctx, &u.instance.Value, r, spec)
	if err != nil || len(ids) == 0 {
		return err
	}
	has, err := d.Resources(ctx, t)
	if err != nil {
		return err
	}
	there := make([]string, 0, len(has.VNFCs))
	for _, c := range has.VNFCs {
		there = append(there, c.ID)
	}
	var problems vnfm.Problems
	for _, id := range ids {
		if !slices.Contains(there, id) {
			problems = append(problems, refuse(id, there))
		}
	}
	return problems.Err()
}

// noteKubeconfig notes which kubeconfig goes before it goes, so that a rotation that is resumed takes the new one for done.
func (u *update) noteKubeconfig(ctx context.Context) error {
	i, trigger := &u.instance.Value, u.spec.RotationTrigger
	if i.Rotation == nil || i.Rotation.Trigger != trigger {
		before, err := u.engine.WorkloadKubeconfig(ctx, i.ClusterRef(), vnfm.KubeconfigSpec{})
		if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
			return err
		}
		i.Rotation = &vnfm.Rotation{Trigger: trigger}
		if before != nil {
			i.Rotation.Before = before.ID
		}
	}
	return saveInstance(ctx, u.store, u.instance)
}

// kubeconfigExpired reports whether the kubeconfig that the request has made again has expired. Whatever else is wrong with
// it is an error where it is needed.
func (u *update) kubeconfigExpired(ctx context.Context) bool {
	i, trigger := &u.instance.Value, u.spec.RotationTrigger
	if trigger == "" || i.Cluster == nil || i.Rotation != nil && i.Rotation.Trigger == trigger {
		return false
	}
	k, err := u.engine.WorkloadKubeconfig(ctx, i.ClusterRef(), vnfm.KubeconfigSpec{})
	return err == nil && k.Expired(i.ClusterRef()) != nil
}
