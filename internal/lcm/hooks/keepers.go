package hooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Change is what an operation does to VNFCs of a VDU.
type Change string

// The changes of the VNFCs of a VDU. Replaced is also said of an operation that may replace some of them.
const (
	Added    Change = "adds"
	Removed  Change = "removes"
	Replaced Change = "replaces"
)

// Changes are what an operation does to VNFCs, by VDU. A VDU whose VNFCs stay as they are is not among them.
type Changes map[string]Change

// of are the changes of some VDUs; without VDUs, all of them.
func (c Changes) of(vdus []string) Changes {
	if len(vdus) == 0 {
		return c
	}
	out := maps.Clone(c)
	maps.DeleteFunc(out, func(vdu string, _ Change) bool { return !slices.Contains(vdus, vdu) })
	return out
}

// standIns are the operations whose hooks say that a driver keeps nodes, the one that is most like a change first.
func (c Changes) standIns() []vnfm.OperationType {
	for _, change := range c {
		if change == Replaced {
			return []vnfm.OperationType{vnfm.OpHeal, vnfm.OpScale}
		}
	}
	return []vnfm.OperationType{vnfm.OpScale, vnfm.OpHeal}
}

// keptBy are the changes of an operation that concern the nodes of a driver; none when it keeps no nodes.
func (o *Operation) keptBy(d vnfm.ManagementDriver) Changes {
	keeper, ok := d.(vnfm.NodeKeeper)
	if !ok || len(o.Changes) == 0 {
		return nil
	}
	return o.Changes.of(keeper.NodeVDUs(o.check(d)))
}

// check is what a driver that keeps nodes is asked with.
func (o *Operation) check(d vnfm.ManagementDriver) *vnfm.HookCheck {
	return &vnfm.HookCheck{
		Params: ownParams(d, o.Request.Management), Later: true, Request: &o.Request, Package: o.Package, Flavour: o.Flavour, Counts: o.Counts,
	}
}

// Keepers are the drivers at one end of an operation that keep nodes which it changes.
func (d Drivers) Keepers(o *Operation, end bool) []Binding {
	return slices.DeleteFunc(d.At(o, end), func(b Binding) bool { return len(o.keptBy(b.Driver)) == 0 })
}

// Rounds divides VNFCs that an operation replaces as the driver says that keeps them as nodes, called at either end. Without one they
// are replaced at once.
func (d Drivers) Rounds(o *Operation, replaced []vnfm.Replacement) [][]string {
	if len(replaced) == 0 {
		return nil
	}
	for _, b := range slices.Concat(d.Keepers(o, false), d.Keepers(o, true)) {
		if keeper, ok := b.Driver.(vnfm.NodeKeeper); ok {
			return keeper.Rounds(o.check(b.Driver), replaced)
		}
	}
	all := make([]string, 0, len(replaced))
	for _, r := range replaced {
		all = append(all, r.VNFC)
	}
	return [][]string{all}
}

// keepers are the drivers that an end of an operation calls because they keep nodes and are named for another operation that adds,
// removes or replaces VNFCs: hooks follow from what happens to VNFCs and not from the name of the operation. Named are those that the
// VNFD names for this end.
func (d Drivers) keepers(o *Operation, end bool, named []Binding) []Binding {
	if len(o.Changes) == 0 {
		return nil
	}
	all := d.All(o.Flavour)
	seen := map[string]bool{}
	for _, b := range named {
		seen[b.Name] = true
	}
	var out []Binding
	for _, b := range all {
		if seen[b.Name] {
			continue
		}
		seen[b.Name] = true
		changes := o.keptBy(b.Driver)
		if len(changes) == 0 {
			continue
		}
		for _, kind := range changes.standIns() {
			at := slices.IndexFunc(all, func(other Binding) bool { return other.Name == b.Name && other.Hook.Name == Name(kind, end) })
			if at >= 0 {
				hook := vnfm.Hook{Name: Name(o.Kind, end), Implementation: all[at].Hook.Implementation}
				out = append(out, Binding{Hook: hook, Name: b.Name, Driver: b.Driver})
				break
			}
		}
	}
	return out
}

// CheckServed finds drivers that keep nodes and that no hook calls after an operation that adds, removes or replaces some of them. A
// driver that is named for the creation and the termination alone leaves its nodes to others.
func (d Drivers) CheckServed(o *Operation, attribute string) vnfm.Problems {
	if len(o.Changes) == 0 {
		return nil
	}
	hooksOf := map[string][]string{}
	drivers := map[string]vnfm.ManagementDriver{}
	for _, b := range d.All(o.Flavour) {
		hooksOf[b.Name], drivers[b.Name] = append(hooksOf[b.Name], b.Hook.Name), b.Driver
	}
	var problems vnfm.Problems
	called := d.At(o, true)
	for _, name := range slices.Sorted(maps.Keys(hooksOf)) {
		changes := o.keptBy(drivers[name])
		if len(changes) == 0 || slices.ContainsFunc(called, func(b Binding) bool { return b.Name == name }) || Bystander(hooksOf[name]) {
			continue
		}
		problems = append(problems, vnfm.Problem{
			Attribute: attribute,
			Summary: fmt.Sprintf("the VNFD names the management driver %q for %s, and for no hook after an operation %s that %s",
				name, strings.Join(hooksOf[name], ", "), o.Kind, changes),
			Detail: fmt.Sprintf("the cluster would not follow its servers: name the driver for %s and %s as well, "+
				"it then serves every operation that adds, removes or replaces VNFCs of its VDUs",
				Name(vnfm.OpScale, false), Name(vnfm.OpScale, true)),
		})
	}
	return problems
}

// Bystander reports whether a driver with these hooks is named for the creation and the termination alone.
func Bystander(hooks []string) bool {
	return !slices.ContainsFunc(hooks, func(hook string) bool {
		return !strings.HasPrefix(hook, operationNames[vnfm.OpInstantiate]+"_") && !strings.HasPrefix(hook, operationNames[vnfm.OpTerminate]+"_")
	})
}

// String says what the changes are, in the order of the VDUs.
func (c Changes) String() string {
	var out []string
	for _, vdu := range slices.Sorted(maps.Keys(c)) {
		out = append(out, fmt.Sprintf("%s VNFCs of VDU %s", c[vdu], vdu))
	}
	return strings.Join(out, " and ")
}
