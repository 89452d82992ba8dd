package lcm

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// lookAtHealed finds out whether a heal that is asked for together with changes has VNFCs that are not healthy. The VIM is
// asked only where the answer decides about the order. What cannot be looked at is taken for healthy: the operations say why.
func (u *update) lookAtHealed(ctx context.Context, in *planInput) {
	heal := func(o plannedOperation) bool { return o.Action == actionHeal }
	if slices.IndexFunc(planUpdate(*in).operations, heal) <= 0 {
		return
	}
	has, err := u.engine.resourcesOf(ctx, u.instance)
	if err != nil {
		return
	}
	in.broken = slices.ContainsFunc(has.VNFCs, func(c vnfm.VNFC) bool { return !c.Ready && heals(u.spec.Heal, &c) })
	if !in.broken {
		return
	}
	spec, err := u.engine.recordedSpec(ctx, u.instance)
	if err != nil {
		return
	}
	u.passOn(&spec)
	r, problems, err := u.engine.resolve(ctx, spec)
	if err == nil && !problems.HasErrors() {
		in.present = &present{spec: spec, to: r}
	}
}

// passOn gives a specification that a record tells what no record has: how the request wants things to be done.
func (u *update) passOn(spec *vnfm.InstanceSpec) {
	spec.ForceConflicts, spec.AdoptExisting, spec.ReplaceObjects = u.spec.ForceConflicts, u.spec.AdoptExisting, u.spec.ReplaceObjects
	spec.AvailabilityZones, spec.Warn = u.spec.AvailabilityZones, u.spec.Warn
}

// heals reports whether a heal replaces a VNFC.
func heals(h *vnfm.HealSpec, c *vnfm.VNFC) bool {
	return h.EntireInstance() || slices.Contains(h.VNFCIDs, c.ID) || slices.Contains(h.VDUIDs, c.VDUID)
}
