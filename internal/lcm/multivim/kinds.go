package multivim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Drivers are the infra drivers of the VIMs of an instance.
type Drivers struct {
	// Own is that of the instance's own VIM, Further has those of its VIM connections by name.
	Own     vnfm.InfraDriver
	Further map[string]vnfm.InfraDriver
}

// All are the drivers, that of the instance's own VIM first.
func (d Drivers) All() []vnfm.InfraDriver {
	out := []vnfm.InfraDriver{d.Own}
	for _, name := range slices.Sorted(maps.Keys(d.Further)) {
		out = append(out, d.Further[name])
	}
	return out
}

// CheckKinds finds what a request gives to VIMs of a kind that cannot have it: manifests and namespaces in VIM connections, and networks
// of VDUs.
func CheckKinds(d Drivers, f *vnfm.Flavour, spec vnfm.InstanceSpec) vnfm.Problems {
	var problems vnfm.Problems
	for _, name := range slices.Sorted(maps.Keys(d.Further)) {
		kind, c := d.Further[name].Params(), spec.Connections[name]
		refuse := func(field, summary, detail string) {
			problems = append(problems, vnfm.Problem{Attribute: vnfm.AttributeConnections, Key: name, Field: field, Summary: summary, Detail: detail})
		}
		if c.Namespace != "" && kind.Namespace == "" {
			refuse("namespace", fmt.Sprintf("the VIM of VIM connection %q has no namespaces", name), "remove the argument: the part is in the project of the VIM")
		}
		if len(c.Manifests) > 0 && !kind.Manifests {
			refuse("manifests", fmt.Sprintf("manifests cannot be placed on the VIM of VIM connection %q", name),
				fmt.Sprintf("%s applies none; remove the argument, and place the manifests on a Kubernetes VIM", kind.Driver))
		}
	}
	return append(problems, checkLinkedVDUs(d, f, spec)...)
}

// checkLinkedVDUs finds networks that are given to VDUs whose VIM connects to none, where another VIM of the instance does.
func checkLinkedVDUs(d Drivers, f *vnfm.Flavour, spec vnfm.InstanceSpec) vnfm.Problems {
	if !slices.ContainsFunc(d.All(), func(d vnfm.InfraDriver) bool { return d.Params().Links }) {
		// The driver says what else connects its VNFCs.
		return nil
	}
	driverOf := func(vdu string) vnfm.InfraParams {
		for name := range d.Further {
			if slices.Contains(spec.Connections[name].VDUIDs, vdu) {
				return d.Further[name].Params()
			}
		}
		return d.Own.Params()
	}
	vdus := map[string]string{}
	linked := map[string]bool{}
	for _, cp := range f.ConnectionPoints {
		vdus[cp.ID] = cp.VDUID
		linked[cp.VirtualLinkID] = linked[cp.VirtualLinkID] || cp.VDUID == "" || driverOf(cp.VDUID).Links
	}
	const advice = "pods are connected to further networks by network attachments of the package; remove it"
	var problems vnfm.Problems
	for _, name := range slices.Sorted(maps.Keys(spec.Links.External)) {
		for _, cp := range slices.Sorted(maps.Keys(spec.Links.External[name].ExtCPs)) {
			if vdu := vdus[cp]; vdu != "" && !driverOf(vdu).Links {
				problems = append(problems, vnfm.Problem{
					Attribute: vnfm.AttributeExternalLinks, Key: name,
					Summary: "connection point " + strconv.Quote(cp) + " is of VDU " + strconv.Quote(vdu) + ", which " + driverOf(vdu).Driver + " connects to no network that is given",
					Detail:  advice + " from ext_cps",
				})
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(spec.Links.Managed)) {
		if connects, used := linked[id]; used && !connects {
			problems = append(problems, vnfm.Problem{
				Attribute: vnfm.AttributeManagedLinks, Key: id,
				Summary: "virtual link " + strconv.Quote(id) + " connects only VDUs on VIMs without networks that can be given", Detail: advice,
			})
		}
	}
	return problems
}

// setKinds says of each VIM what there is on VIMs of other kinds: VDUs, and networks where only those connect to any. The only VIM of a
// kind has everything else of the package that is for its kind, also what belongs to no VDU. A VIM that nothing belongs on any more
// counts for nothing.
func setKinds(all []vimTarget, f *vnfm.Flavour) {
	var vdus []string
	if f != nil {
		vdus = f.VDUIDs()
	}
	kindOf := func(v *vimTarget) string { return v.driver.Params().Driver }
	linked := slices.ContainsFunc(all, func(v vimTarget) bool { return v.driver.Params().Links })
	alone := make([]bool, len(all))
	for i := range all {
		v := &all[i]
		v.unlinked = linked && !v.driver.Params().Links
		others := 0
		for j := range all {
			if kindOf(&all[j]) == kindOf(v) && !all[j].part.Empty() {
				others++
			}
		}
		alone[i] = others == 1 && !v.part.Empty()
		for _, vdu := range vdus {
			if slices.ContainsFunc(all, func(other vimTarget) bool { return other.part.Has(vdu) && kindOf(&other) != kindOf(v) }) {
				v.part.Foreign = append(v.part.Foreign, vdu)
			}
		}
	}
	for i := range all {
		if p := &all[i].part; alone[i] && f != nil {
			*p = vnfm.Part{Rest: true, VDUIDs: p.Foreign, Alone: true, Foreign: p.Foreign}
		}
	}
}

// unplaced finds objects of the package that would be on no VIM: those of no VDU, of a kind with several VIMs of which none has the rest.
func (m *multiVIMDriver) unplaced(ctx context.Context, t *vnfm.Target, planned *vnfm.Preview) vnfm.Problems {
	var problems vnfm.Problems
	for i := range m.targets {
		v := m.targets[i]
		kind := v.driver.Params().Driver
		var same []vimTarget
		for _, other := range m.targets {
			if other.driver.Params().Driver == kind && !other.part.Empty() {
				same = append(same, other)
			}
		}
		hasRest := slices.ContainsFunc(same, func(other vimTarget) bool { return other.part.Rest })
		if len(same) == 0 || same[0].connection != v.connection || hasRest {
			continue
		}
		v.part = vnfm.Part{Rest: true, VDUIDs: v.part.Foreign, Foreign: v.part.Foreign}
		all, found := v.driver.Preview(ctx, v.target(t))
		if found.HasErrors() || all == nil {
			continue
		}
		var lost []string
		for key := range all.Objects {
			if !slices.ContainsFunc(same, func(other vimTarget) bool { _, there := planned.Objects[other.key(key)]; return there }) {
				lost = append(lost, key)
			}
		}
		if len(lost) > 0 {
			problems = append(problems, vnfm.Problem{
				Attribute: vnfm.AttributeConnections, Summary: "objects of the package are on no VIM: " + vnfm.QuotedNames(lost),
				Detail: "of several VIMs of a kind none has what is not named; give their files in manifests of one of the VIM connections",
			})
		}
	}
	return problems
}
