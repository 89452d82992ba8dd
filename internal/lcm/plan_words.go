package lcm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxWords is how many entries each list of a planned update has.
const maxWords = 40

// PlanUpdate implements vnfm.Manager. The operations are those of planUpdate, which the executor follows: what only the VIM can tell, such
// as VNFCs that are not healthy, may change their order.
func (e *Engine) PlanUpdate(ctx context.Context, id string, spec vnfm.InstanceSpec, drifted []string) (*vnfm.PlannedUpdate, error) {
	ctx = withSecretsOf(ctx, &spec)
	after, wanted, err := e.rendered(ctx, id, spec)
	if err != nil || wanted == nil {
		return nil, err
	}
	w := words{engine: e, after: after, wanted: wanted, drifted: drifted, out: &vnfm.PlannedUpdate{Changes: map[string][]string{}}}
	if id == "" {
		w.instantiate(spec)
	} else if err := w.update(ctx, id, spec); err != nil {
		return nil, err
	}
	w.out.Operations = limited(w.out.Operations, maxWords)
	w.limitChanges()
	return w.hidden(ctx), nil
}

// rendered is what an instance will consist of, with what the package says of it; nil where there is no preview.
func (e *Engine) rendered(ctx context.Context, id string, spec vnfm.InstanceSpec) (out *vnfm.Rendering, wanted *resolution, err error) {
	problems, err := e.offline(ctx, id, &spec, func(r *resolution, d vnfm.InfraDriver, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		var found vnfm.Problems
		if out, found = d.Render(ctx, t); out == nil {
			return nil, found
		}
		wanted = r
		return &out.Preview, found
	})
	if err != nil || problems.HasErrors() || out == nil || out.NamespaceNeeded || out.NamesLater {
		return nil, nil, err
	}
	return out, wanted, nil
}

// words says in words what an update does.
type words struct {
	engine *Engine
	// before and after are what the instance consists of; before is nil for a new one, and where that is not known.
	before, after *vnfm.Rendering
	wanted        *resolution
	drifted       []string
	out           *vnfm.PlannedUpdate
}

func (w *words) say(format string, args ...any) {
	w.out.Operations = append(w.out.Operations, fmt.Sprintf(format, args...))
}

// sayOf adds a line to the last operation.
func (w *words) sayOf(format string, args ...any) { w.say("  "+format, args...) }

// instantiate says what the creation makes.
func (w *words) instantiate(spec vnfm.InstanceSpec) {
	w.say("%s %s", vnfm.OpInstantiate, w.version(w.wanted.pkg))
	for _, vdu := range slices.Sorted(maps.Keys(w.after.VDUs)) {
		w.sayOf("%s: %s", vdu, w.numbered(vdu, w.wanted.counts[vdu], "added"))
	}
	w.hooks(hooks.Operation{Kind: vnfm.OpInstantiate, Package: w.wanted.pkg, Flavour: w.wanted.flavour, Request: spec})
}

// update says what leads an instance from its record to a request.
func (w *words) update(ctx context.Context, id string, spec vnfm.InstanceSpec) error {
	s, err := w.engine.store(ctx)
	if err != nil {
		return err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		// The record is written again by the apply.
		return nil
	}
	if err != nil {
		return err
	}
	in := planInput{
		record: en.Value, secrets: spec.InfraSecrets, spec: spec, wanted: w.wanted, configured: paramsDigest(en.Value.DigestKey, spec.Management),
		observed: true, drift: w.drifted,
	}
	if had, err := w.engine.openParams(ctx, en); err == nil {
		in.secrets = had.secrets
	}
	if op, err := w.engine.unfinished(ctx, s, en); err == nil && op != nil {
		occurrence := op.snapshot()
		in.unfinished = &occurrence
	}
	was := w.recorded(ctx, en)
	record := en.Value
	for _, o := range planUpdate(in).operations {
		w.operation(&record, was, &o)
	}
	w.changes()
	return nil
}

// recorded renders the instance as its record stands, and returns its package; nil where that cannot be done any more.
func (w *words) recorded(ctx context.Context, en *records.Entry[vnfm.Instance]) *vnfm.Package {
	spec, err := w.engine.recordedSpec(ctx, en)
	if err != nil {
		return nil
	}
	before, r, err := w.engine.rendered(ctx, en.Rec.ID, spec)
	if err != nil || r == nil {
		return nil
	}
	w.before = before
	return r.pkg
}

// operation says what one LCM operation does, and takes the record to where it ends.
func (w *words) operation(record *vnfm.Instance, was *vnfm.Package, o *plannedOperation) {
	resumes := ""
	if o.Resumes {
		resumes = ", resumed"
	}
	switch o.Action {
	case actionChangePackage:
		w.say("%s %s%s", o.Type, w.changedPackage(record, was, o), resumes)
		w.rolled(o.to.counts)
	case actionScale:
		w.say("%s %s%s", o.Type, scaledAspects(record, o), resumes)
		w.scaled(record, o)
	case actionHeal:
		w.say("%s %s%s", o.Type, healedWhat(o.spec.Heal), resumes)
		w.healed(o)
	case actionRepair:
		if w.drifted == nil {
			w.say("%s: finish what was interrupted%s", o.Type, resumes)
		} else {
			w.say("%s: repair %s%s", o.Type, objects(w.drifted), resumes)
		}
	case actionOperate:
		w.say("%s %s -> %s%s", o.Type, record.OperationalState, o.spec.OperationalState, resumes)
	default:
		w.say("%s: %s%s", o.Type, o.Action, resumes)
	}
	if o.to != nil {
		w.hooks(hooks.Operation{Kind: o.Type, Package: o.to.pkg, Flavour: o.to.flavour, Request: o.spec, Changes: o.Changes, Counts: o.to.counts})
		describe(record, o.spec, o.to)
	}
}

// version is a package as people know it.
func (w *words) version(p *vnfm.Package) string {
	if p == nil || p.Descriptor == nil {
		return "another package"
	}
	return strings.TrimSpace(p.Descriptor.ProductName + " " + p.Descriptor.SoftwareVersion)
}

// changedPackage says which package, flavour or parameters change.
func (w *words) changedPackage(record *vnfm.Instance, was *vnfm.Package, o *plannedOperation) string {
	to := o.to.pkg
	switch {
	case record.PackageID == to.ID && record.FlavourID != o.to.flavour.ID:
		return fmt.Sprintf("%s -> %s", record.FlavourID, o.to.flavour.ID)
	case record.PackageID == to.ID:
		return w.version(to) + " with other parameters"
	case was == nil || was.Descriptor == nil || to.Descriptor == nil:
		return "to " + w.version(to)
	case was.Descriptor.ProductName == to.Descriptor.ProductName && was.Descriptor.SoftwareVersion != to.Descriptor.SoftwareVersion:
		return fmt.Sprintf("%s -> %s", w.version(was), to.Descriptor.SoftwareVersion)
	case w.version(was) == w.version(to):
		return w.version(to) + ", another content"
	default:
		return fmt.Sprintf("%s -> %s", w.version(was), w.version(to))
	}
}

// rolled says what a change of objects does to the VNFCs of each VDU.
func (w *words) rolled(counts map[string]int) {
	if w.before == nil {
		return
	}
	for _, vdu := range slices.Sorted(maps.Keys(w.after.VDUs)) {
		old, had := w.before.VDUs[vdu]
		count := counts[vdu]
		switch {
		case !had || old.Kind == "":
			w.sayOf("%s: %s", vdu, w.numbered(vdu, count, "added"))
		case w.before.Templates[vdu] != w.after.Templates[vdu] && count > 0:
			w.sayOf("%s: %s", vdu, w.numbered(vdu, count, w.after.Rollouts[vdu]))
		}
	}
	for _, vdu := range slices.Sorted(maps.Keys(w.before.VDUs)) {
		if _, stays := w.after.VDUs[vdu]; !stays {
			w.sayOf("%s: removed", vdu)
		}
	}
}

// numbered is so many VNFCs of a VDU and what happens to them.
func (w *words) numbered(vdu string, count int, what string) string {
	state := w.after.VDUs[vdu]
	if what == "" {
		what = "changed"
	}
	if state.Replicas == nil {
		return what
	}
	return fmt.Sprintf("%d %s", count, what)
}

// scaledAspects are the aspects that a scale changes.
func scaledAspects(record *vnfm.Instance, o *plannedOperation) string {
	var parts []string
	for _, aspect := range slices.Sorted(maps.Keys(o.to.scaleStatus)) {
		if was, is := record.ScaleStatus[aspect], o.to.scaleStatus[aspect]; was != is {
			parts = append(parts, fmt.Sprintf("%s %d -> %d", aspect, was, is))
		}
	}
	if record.LevelID != o.to.levelID {
		parts = append([]string{fmt.Sprintf("level %s -> %s", record.LevelID, o.to.levelID)}, parts...)
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

// healedWhat is what a heal names.
func healedWhat(heal *vnfm.HealSpec) string {
	if heal.EntireInstance() {
		return "everything"
	}
	return strings.Join(slices.Concat(heal.VDUIDs, heal.VNFCIDs), ", ")
}

// healed says which VNFCs a heal replaces.
func (w *words) healed(o *plannedOperation) {
	heal := o.spec.Heal
	for _, vdu := range slices.Sorted(maps.Keys(o.Changes)) {
		named := slices.DeleteFunc(slices.Clone(heal.VNFCIDs), func(id string) bool { return o.to.flavour.VDUOf(id) != vdu })
		if len(named) > 0 && !slices.Contains(heal.VDUIDs, vdu) {
			w.sayOf("%s: %d replaced", vdu, len(named))
			continue
		}
		w.sayOf("%s: %s", vdu, w.numbered(vdu, o.to.counts[vdu], w.after.Rollouts[vdu]))
	}
}

// hooks names the management drivers at both ends of an operation.
func (w *words) hooks(o hooks.Operation) {
	for _, end := range []struct {
		last bool
		when string
	}{{false, "before"}, {true, "after"}} {
		var names []string
		for _, b := range w.engine.management().At(&o, end.last) {
			names = append(names, b.Name)
		}
		if len(names) > 0 {
			w.sayOf("%s it: %s", end.when, strings.Join(names, ", "))
		}
	}
}

// changes compares the objects that both the record and the request have.
func (w *words) changes() {
	if w.before == nil {
		return
	}
	for key, digest := range w.after.Objects {
		before, had := w.before.Objects[key]
		if !had || before == digest && digest != "" {
			continue
		}
		if found := w.changesOf(key); len(found) > 0 {
			w.out.Changes[key] = found
		}
	}
	for key := range w.before.Objects {
		if _, stays := w.after.Objects[key]; !stays {
			w.out.Changes[key] = []string{"removed"}
		}
	}
}

// changesOf are the fields of an object that change.
func (w *words) changesOf(key string) []string {
	var old, now any
	if yaml.Unmarshal([]byte(w.before.Contents[key]), &old) != nil || yaml.Unmarshal([]byte(w.after.Contents[key]), &now) != nil {
		return nil
	}
	out := fielddiff.Diff(old, now, nil)
	for i, line := range out {
		if path, _, ok := strings.Cut(line, vnfm.LabelPrefix); ok {
			out[i] = strings.TrimSuffix(path, ".metadata.annotations.") + ": reads other configuration"
		}
	}
	was, is := w.before.SecretDigests[key], w.after.SecretDigests[key]
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if before, had := was[name]; had && before != is[name] {
			out = append(out, "data."+name+": changed")
		}
	}
	return out
}

// limitChanges leaves maxWords lines of changes, in the order of the objects.
func (w *words) limitChanges() {
	left, more := maxWords, 0
	for _, key := range slices.Sorted(maps.Keys(w.out.Changes)) {
		lines := w.out.Changes[key]
		if left == 0 {
			more += len(lines)
			delete(w.out.Changes, key)
			continue
		}
		if len(lines) > left {
			lines = limited(lines, left)
			w.out.Changes[key] = lines
		}
		left = max(0, left-len(lines))
	}
	if more > 0 {
		w.out.Changes["and more"] = []string{fmt.Sprintf("%d lines of other objects", more)}
	}
}

// limited is at most so many lines, the last of which counts those that are left out.
func limited(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most-1]), fmt.Sprintf("and %d more", len(lines)-most+1))
}

// hidden masks the secrets of the request.
func (w *words) hidden(ctx context.Context) *vnfm.PlannedUpdate {
	concealed := vnfm.ConcealedIn(ctx)
	for i := range w.out.Operations {
		w.out.Operations[i] = concealed.Hide(w.out.Operations[i])
	}
	for _, lines := range w.out.Changes {
		for i := range lines {
			lines[i] = concealed.Hide(lines[i])
		}
	}
	return w.out
}

// objects names one object, or counts them.
func objects(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return fmt.Sprintf("%d objects", len(keys))
}
