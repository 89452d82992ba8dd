package lcm

import (
	"context"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The parameters of a HEAL operation that say whose it is. That of a repair has no
// trigger.
const (
	paramCause   = "cause"
	paramTrigger = "trigger"
)

// heal replaces the VNFCs that the user names.
func (u *update) heal(ctx context.Context, op *operation, _ *plannedOperation) error {
	i, request := &u.instance.Value, *u.spec.Heal
	t, d, err := u.engine.bind(ctx, i, u.wanted, u.spec)
	if err != nil {
		return err
	}
	request.ID, request.Began = op.occ.Rec.ID, op.occ.Value.StartedAt
	if err := d.Heal(ctx, t, request, op); err != nil {
		return err
	}
	i.HealTrigger = request.Trigger
	i.Generation++
	return nil
}

// checkHealed checks that the instance has the VNFCs that are to be replaced.
func (u *update) checkHealed(ctx context.Context) error {
	t, d, err := u.engine.bind(ctx, &u.instance.Value, u.wanted, u.spec)
	if err != nil {
		return err
	}
	return checkHealedVNFCs(ctx, d, t, u.spec.Heal)
}

// checkHealedVNFCs checks that the instance has the VNFCs that are to be replaced.
func checkHealedVNFCs(ctx context.Context, d vnfm.InfraDriver, t *vnfm.Target, want *vnfm.HealSpec) error {
	attribute, kind := attributeHealVNFCs, "VNFC"
	if t.Instance.Cluster != nil {
		attribute, kind = attributeHealMachines, "machine"
	}
	return checkVNFCs(ctx, d, t, want.VNFCIDs, func(id string, there []string) vnfm.Problem {
		return vnfm.Problem{
			Attribute: attribute,
			Summary:   "the " + t.Instance.Noun() + " has no " + kind + " " + strconv.Quote(id),
			Detail:    "its " + kind + "s are " + vnfm.QuotedNames(there),
		}
	})
}

// checkVNFCs checks that the instance has VNFCs of these ids; refuse says what is wrong when one
// is none of those that are there.
func checkVNFCs(ctx context.Context, d vnfm.InfraDriver, t *vnfm.Target, ids []string, refuse func(id string, there []string) vnfm.Problem) error {
	if len(ids) == 0 {
		return nil
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

// The arguments that problems of a heal are about.
const (
	attributeHealVNFCs    = "heal.vnfc_ids"
	attributeHealVDUs     = "heal.vdu_ids"
	attributeHealMachines = "heal.machine_names"
)

// checkHeal finds what cannot be healed whatever the VIM holds.
func checkHeal(f *vnfm.Flavour, want *vnfm.HealSpec, problems *vnfm.Problems) {
	if want == nil {
		return
	}
	vdus := f.VDUIDs()
	refuse := func(attribute, summary string) {
		*problems = append(*problems, vnfm.Problem{Attribute: attribute, Summary: summary, Detail: "its VDUs are " + vnfm.QuotedNames(vdus)})
	}
	for _, id := range want.VDUIDs {
		if !slices.Contains(vdus, id) {
			refuse(attributeHealVDUs, "deployment flavour "+strconv.Quote(f.ID)+" has no VDU "+strconv.Quote(id))
		}
	}
	for _, id := range want.VNFCIDs {
		if f.VDUOf(id) == "" {
			refuse(attributeHealVNFCs, "VNFC "+strconv.Quote(id)+" is of no VDU of deployment flavour "+strconv.Quote(f.ID))
		}
	}
}
