package lcm

import (
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vnfcChanges are what the actions do to VNFCs: the hooks of management drivers that keep nodes follow from it, and not from the type
// of the operation. Whatever applies the objects may replace any VNFC. The others leave the VNFCs as they are.
var vnfcChanges = map[action]func(before *vnfm.Instance, o *plannedOperation) hooks.Changes{
	actionFinish:         finishedChanges,
	actionApplyReadiness: mayReplace,
	actionChangePackage:  mayReplace,
	actionConnect:        mayReplace,
	actionScale:          scaledVNFCs,
	actionHeal:           healedVNFCs,
	actionRepair:         mayReplace,
}

// changesOf is what an operation does to the VNFCs of an instance whose record is as before.
func changesOf(before *vnfm.Instance, o *plannedOperation) hooks.Changes {
	if change := vnfcChanges[o.Action]; change != nil && before.Cluster == nil && o.to != nil {
		return change(before, o)
	}
	return nil
}

func mayReplace(_ *vnfm.Instance, o *plannedOperation) hooks.Changes {
	return allReplaced(o.to.flavour)
}

// allReplaced says that all VNFCs of a flavour may be replaced.
func allReplaced(f *vnfm.Flavour) hooks.Changes {
	out := hooks.Changes{}
	for i := range f.VDUs {
		out[f.VDUs[i].ID] = hooks.Replaced
	}
	return out
}

// finishedChanges are those of an operation whose last hook is left: what it did is not known any more.
func finishedChanges(_ *vnfm.Instance, o *plannedOperation) hooks.Changes {
	if o.Type == vnfm.OpModifyInfo || o.Type == vnfm.OpOperate {
		return nil
	}
	return allReplaced(o.to.flavour)
}

// scaledVNFCs compares the numbers of VNFCs. Where there were none that can be counted, each VDU may have others.
func scaledVNFCs(before *vnfm.Instance, o *plannedOperation) hooks.Changes {
	was, problems := vnfd.Counts(o.to.flavour, before.LevelID, before.ScaleLevels)
	if problems.HasErrors() {
		return allReplaced(o.to.flavour)
	}
	out := hooks.Changes{}
	for vdu, count := range o.to.counts {
		switch {
		case count > was[vdu]:
			out[vdu] = hooks.Added
		case count < was[vdu]:
			out[vdu] = hooks.Removed
		}
	}
	return out
}

// healedVNFCs are the VDUs that a heal names, or all of them.
func healedVNFCs(_ *vnfm.Instance, o *plannedOperation) hooks.Changes {
	out, heal := allReplaced(o.to.flavour), o.spec.Heal
	if heal.EntireInstance() {
		return out
	}
	for vdu := range out {
		of := func(id string) bool { return o.to.flavour.VDUOf(id) == vdu }
		if !slices.Contains(heal.VDUIDs, vdu) && !slices.ContainsFunc(heal.VNFCIDs, of) {
			delete(out, vdu)
		}
	}
	return out
}

// checkServed finds operations of a plan after which no hook calls a driver whose nodes they change. A repair is not among them:
// whether it replaces VNFCs is seen when it runs.
func checkServed(drivers hooks.Drivers, operations []plannedOperation) vnfm.Problems {
	var problems vnfm.Problems
	for i := range operations {
		o := &operations[i]
		if o.Action == actionRepair || o.Action == actionFinish || o.Action == actionApplyReadiness {
			continue
		}
		problems = append(problems, drivers.CheckServed(&hooks.Operation{
			Kind: o.Type, Package: o.to.pkg, Flavour: o.to.flavour, Request: o.spec, Changes: o.Changes,
		}, changedBy(o))...)
	}
	return problems
}

// changedBy is the attribute that asks for an operation.
func changedBy(o *plannedOperation) string {
	switch o.Type {
	case vnfm.OpScale:
		return "scale_levels"
	case vnfm.OpScaleToLevel:
		if o.spec.LevelID == "" {
			return "scale_levels"
		}
		return "instantiation_level_id"
	case vnfm.OpChangeFlavour:
		return "flavour_id"
	case vnfm.OpChangePackage:
		if o.Params[paramFromPackage] == o.Params[paramPackage] {
			return vnfm.AttributeParams
		}
		return "package_id"
	case vnfm.OpChangeExtConn:
		return vnfm.AttributeExternalLinks
	case vnfm.OpHeal:
		return "heal"
	default:
		return ""
	}
}

// checkPlannedHooks finds what the operations that lead an instance to a request lack in hooks. What only its record and its secrets
// tell, such as other parameters, is found when the operation begins.
func (e *Engine) checkPlannedHooks(en *records.Entry[vnfm.Instance], spec *vnfm.InstanceSpec, r *resolution, problems *vnfm.Problems) {
	if en == nil || len(e.management().All(r.flavour)) == 0 || en.Value.Status != vnfm.StatusInstantiated {
		return
	}
	was := en.Value
	plan := planUpdate(planInput{record: was, secrets: spec.InfraSecrets, spec: *spec, wanted: r, configured: was.ConfiguredDigest, observed: true})
	other := was.PackageID != spec.PackageID || was.FlavourID != r.flavour.ID
	*problems = append(*problems, checkServed(e.management(), slices.DeleteFunc(plan.operations, func(o plannedOperation) bool {
		return o.Action != actionScale && o.Action != actionHeal && (o.Action != actionChangePackage || !other)
	}))...)
}
