package lcm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func (w *words) say(format string, args ...any) {
	w.out.Operations = append(w.out.Operations, fmt.Sprintf(format, args...))
}

// sayOf adds a line to the last operation.
func (w *words) sayOf(format string, args ...any) { w.say("  "+format, args...) }

// instantiate says what the creation makes.
func (w *words) instantiate(spec vnfm.InstanceSpec) {
	w.say("%s %s: %s", vnfm.OpInstantiate, product(w.wanted.pkg, spec.Cluster), counted(len(w.after.Objects)))
	for _, name := range slices.Sorted(maps.Keys(w.after.Units)) {
		w.sayOf("%s: %s", name, added(w.after.Units[name]))
	}
	charts := w.after.Created
	if spec.AdoptExisting {
		// A release that exists is upgraded.
		charts = w.after.Upgraded
	}
	w.hooks(hooks.Operation{Kind: vnfm.OpInstantiate, Package: w.wanted.pkg, Flavour: w.wanted.flavour, Request: spec}, charts)
}

// operation says what one LCM operation does, and takes the record to where it ends.
func (w *words) operation(record *vnfm.Instance, o *plannedOperation) {
	w.say("%s%s", o.Type, w.purpose(record, o))
	switch last := &w.out.Operations[len(w.out.Operations)-1]; {
	case o.TakesBack && o.Action == actionConnect:
		*last += ", taken back"
	case o.Resumes && !o.TakesBack:
		*last += ", resumed"
	}
	var charts vnfm.RenderedHooks
	switch o.Action {
	case actionChangePackage, actionConnect, actionRename, actionApplyReadiness:
		charts = w.revision()
		w.roll(o)
	case actionScale:
		charts = w.revision()
		w.scaled(record, o)
	case actionOperate:
		w.operated(record, o)
	case actionHeal:
		w.healed(record, o)
	default:
		// Others leave the VNFCs as they are, or what they do is known only when they run.
	}
	if o.to != nil {
		w.hooks(hooks.Operation{Kind: o.Type, Package: o.to.pkg, Flavour: o.to.flavour, Request: o.spec, Changes: o.Changes, Counts: o.to.counts}, charts)
		describe(record, o.spec, o.to)
	}
}

// revision returns the hooks of the first operation that makes a revision of a chart.
func (w *words) revision() vnfm.RenderedHooks {
	if w.revised || w.before == nil || w.before.Revision == w.after.Revision {
		return vnfm.RenderedHooks{}
	}
	w.revised = true
	return w.after.Upgraded
}

// purpose says behind the type of an operation what it is for.
func (w *words) purpose(record *vnfm.Instance, o *plannedOperation) string {
	switch o.Action {
	case actionChangePackage:
		return " " + w.changedPackage(record, o)
	case actionScale:
		return " " + scaledAspects(record, o)
	case actionHeal:
		return " " + healedWhat(o.spec.Heal)
	case actionRepair:
		if w.abandoned != "" {
			return fmt.Sprintf(": take back %s", w.abandoned)
		}
		if record.Status != vnfm.StatusInstantiated || len(w.changed) == 0 {
			return ": finish what was interrupted"
		}
		return ": repair " + objects(w.changed)
	case actionOperate:
		return fmt.Sprintf(" %s -> %s", record.OperationalState, o.spec.OperationalState)
	case actionRename:
		return fmt.Sprintf(": rename %s -> %s", record.Name, o.spec.Name)
	case actionRotateKubeconfig, actionModify, actionApplyReadiness, actionConnect, actionSendCredentials:
		return ": " + string(o.Action)
	case actionConfigure:
		return ": other parameters of management drivers"
	default:
		return ": the last step of what was interrupted"
	}
}

// product is a package, or a cluster, as people know it.
func product(p *vnfm.Package, cluster *vnfm.ClusterSpec) string {
	switch {
	case cluster != nil && cluster.KubernetesVersion != "":
		return "Kubernetes " + cluster.KubernetesVersion
	case cluster != nil:
		return "cluster"
	case p == nil || p.Descriptor == nil:
		return "another package"
	}
	return strings.TrimSpace(p.Descriptor.ProductName + " " + p.Descriptor.SoftwareVersion)
}

// changedPackage says which package, flavour or parameters change.
func (w *words) changedPackage(record *vnfm.Instance, o *plannedOperation) string {
	to := o.to.pkg
	was, is := product(w.was, record.Cluster), product(to, o.spec.Cluster)
	switch {
	case w.halfway && was == is:
		return is + ", taken back"
	case w.halfway && (w.was == nil || w.was.Descriptor == nil):
		return "half-way -> " + is
	case w.halfway:
		return fmt.Sprintf("%s half-way -> %s", was, strings.TrimPrefix(is, w.was.Descriptor.ProductName+" "))
	case record.Cluster != nil && was == is:
		return is + ", another description"
	case record.Cluster != nil:
		return fmt.Sprintf("%s -> %s", was, strings.TrimPrefix(is, "Kubernetes "))
	case record.PackageID == to.ID && record.FlavourID != o.to.flavour.ID:
		return fmt.Sprintf("flavour %s -> %s", record.FlavourID, o.to.flavour.ID)
	case record.PackageID == to.ID:
		return is + ", other arguments"
	case w.was == nil || w.was.Descriptor == nil || to.Descriptor == nil:
		return "to " + is
	case was == is:
		return is + ", another content"
	case w.was.Descriptor.ProductName == to.Descriptor.ProductName:
		return fmt.Sprintf("%s -> %s", was, to.Descriptor.SoftwareVersion)
	default:
		return fmt.Sprintf("%s -> %s", was, is)
	}
}

// roll says what the first operation that changes objects does to what runs.
func (w *words) roll(o *plannedOperation) {
	if w.before == nil || w.rolled {
		return
	}
	w.rolled = true
	for _, name := range slices.Sorted(maps.Keys(w.after.Units)) {
		unit, was := w.after.Units[name], w.before.Units[name]
		if w.done(unit.Object) {
			continue
		}
		if _, had := w.before.Units[name]; !had {
			w.sayOf("%s: %s", name, added(unit))
			continue
		}
		count := unit.Count
		if n, ok := o.to.counts[name]; ok && count != nil {
			// What a scale changes comes in an operation of its own.
			count = &n
		}
		effect := unit.Changed(&was)
		if effect != "" && (count == nil || *count > 0) {
			w.sayOf("%s: %s", name, numbered(count, effect))
		}
		if unit.Of != "" && count != nil && was.Count != nil && *was.Count != *count {
			w.sayOf("%s: %d -> %d %s", name, *was.Count, *count, unit.Of)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.before.Units)) {
		if _, stays := w.after.Units[name]; !stays {
			unit := w.before.Units[name]
			w.sayOf("%s: %s", name, numbered(unit.Count, "removed"))
		}
	}
}

func added(u vnfm.Unit) string {
	if u.Added != "" {
		return u.Added
	}
	return numbered(u.Count, "added")
}

// numbered is how many of a unit something happens to, and what.
func numbered(count *int, what string) string {
	if count == nil {
		return what
	}
	return fmt.Sprintf("%d %s", *count, what)
}

// scaledAspects are the aspects that a scale changes.
func scaledAspects(record *vnfm.Instance, o *plannedOperation) string {
	var parts []string
	if record.LevelID != o.to.levelID {
		parts = append(parts, fmt.Sprintf("level %s -> %s", record.LevelID, o.to.levelID))
	}
	for _, aspect := range slices.Sorted(maps.Keys(o.to.scaleStatus)) {
		if was, is := record.ScaleStatus[aspect], o.to.scaleStatus[aspect]; was != is {
			parts = append(parts, fmt.Sprintf("%s %d -> %d", aspect, was, is))
		}
	}
	return strings.Join(parts, ", ")
}

// scaled says how many VNFCs of each VDU a scale leads to.
func (w *words) scaled(record *vnfm.Instance, o *plannedOperation) {
	was, _ := vnfd.Counts(o.to.flavour, record.LevelID, record.ScaleLevels)
	for _, vdu := range slices.Sorted(maps.Keys(o.Changes)) {
		w.sayOf("%s: %d -> %d", vdu, was[vdu], o.to.counts[vdu])
	}
}

// operated says which VNFCs are started or stopped.
func (w *words) operated(record *vnfm.Instance, o *plannedOperation) {
	all, _ := vnfd.Counts(o.to.flavour, record.LevelID, record.ScaleLevels)
	what := "started"
	if o.spec.OperationalState == vnfm.Stopped {
		what = "stopped"
	}
	for _, vdu := range slices.Sorted(maps.Keys(all)) {
		if n := all[vdu]; n > 0 && w.after.Units[vdu].Count != nil {
			w.sayOf("%s: %d %s", vdu, n, what)
		}
	}
}

// healedWhat is what a heal names.
func healedWhat(heal *vnfm.HealSpec) string {
	if heal.EntireInstance() {
		return "everything"
	}
	return strings.Join(slices.Concat(heal.VDUIDs, heal.VNFCIDs), ", ")
}

// healed says which VNFCs a heal replaces.
func (w *words) healed(record *vnfm.Instance, o *plannedOperation) {
	if record.Cluster != nil {
		return
	}
	heal := o.spec.Heal
	for _, vdu := range slices.Sorted(maps.Keys(o.Changes)) {
		named := slices.DeleteFunc(slices.Clone(heal.VNFCIDs), func(id string) bool { return o.to.flavour.VDUOf(id) != vdu })
		unit := w.after.Units[vdu]
		count := unit.Count
		if n, ok := o.to.counts[vdu]; ok && count != nil {
			count = &n
		}
		if len(named) > 0 && !slices.Contains(heal.VDUIDs, vdu) {
			n := len(named)
			count = &n
		}
		if count == nil || *count > 0 {
			w.sayOf("%s: %s", vdu, numbered(count, "replaced"))
		}
	}
}

// hooks names the management drivers at both ends of an operation, and the hooks of charts, which run between them.
func (w *words) hooks(o hooks.Operation, charts vnfm.RenderedHooks) {
	drivers := func(last bool) (names []string) {
		for _, b := range w.engine.management().At(&o, last) {
			names = append(names, b.Name)
		}
		return names
	}
	if names := slices.Concat(drivers(false), charts.Before); len(names) > 0 {
		w.sayOf("before it: %s", strings.Join(names, ", "))
	}
	if names := slices.Concat(charts.After, drivers(true)); len(names) > 0 {
		w.sayOf("after it: %s", strings.Join(names, ", "))
	}
}

// objects names one object, or counts them.
func objects(changed map[string]string) string {
	for key := range changed {
		if len(changed) == 1 {
			return key
		}
	}
	return counted(len(changed))
}

// counted is a number of objects.
func counted(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
