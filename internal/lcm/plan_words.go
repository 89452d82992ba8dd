package lcm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxWords is how many lines operations and changes of a planned update have each.
const maxWords = 40

// PlanUpdate implements vnfm.Manager. The operations are those of planUpdate, which the executor follows: what only the VIM can tell, such
// as VNFCs that are not healthy, may change their order.
func (e *Engine) PlanUpdate(ctx context.Context, id string, spec vnfm.InstanceSpec, changed map[string]string) (*vnfm.PlannedUpdate, error) {
	ctx = withSecretsOf(ctx, &spec)
	if id == "" {
		w, err := e.newWords(ctx, presentInstance{}, &spec)
		if w == nil || w.after.NamespaceNeeded || err != nil {
			return nil, err
		}
		w.instantiate(spec)
		return w.finish(), nil
	}
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	if !e.applying.Load() {
		// Who applies finds what the plan has said.
		store.ReadAhead(ctx, s, seal.KeyWanted(), store.Wanted{Kind: store.KindOperation, Owner: id})
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, err
	}
	if !e.applying.Load() {
		tried := spec
		tried.Namespace = en.Value.Namespace
		store.ReadAhead(ctx, s, store.Wanted{Kind: store.KindDryRun, ID: keyOf(tried)})
	}
	note, err := e.newWordsNote(ctx, en, spec, changed)
	if err != nil {
		return nil, err
	}
	if said := note.find(ctx, s); said != nil {
		return said, nil
	}
	w, err := e.newWords(ctx, presentInstance{id: id, record: en}, &spec)
	if w == nil || w.after.NamespaceNeeded || err != nil {
		return nil, err
	}
	if err := w.update(ctx, s, en, spec, changed); err != nil {
		return nil, err
	}
	return note.save(ctx, s, w.finish())
}

// rendered is what an instance will consist of, with what the package says of it; nil where there is no preview.
func (e *Engine) rendered(ctx context.Context, present presentInstance, spec *vnfm.InstanceSpec) (out *vnfm.Rendering, wanted *resolution, err error) {
	problems, err := e.offline(ctx, present, spec, func(r *resolution, d vnfm.InfraDriver, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		var found vnfm.Problems
		t.Compared = true
		if len(t.DigestKey) == 0 {
			// Secrets are compared by their digests, and only within this process.
			t.DigestKey = e.ownKey
		}
		if out, found = d.Render(ctx, t); out == nil {
			return nil, found
		}
		wanted = r
		return &out.Preview, found
	})
	if err != nil || problems.HasErrors() || out == nil || out.NamesLater {
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
	// was is the package that the instance has; nil where it cannot be read any more.
	was *vnfm.Package
	// halfway says that an unfinished change is taken back: before is what it led to, and objects that do not differ are done.
	halfway bool
	// abandoned is the type of an unfinished operation that a repair takes back; empty for none.
	abandoned vnfm.OperationType
	// changed are the objects that differ from the state, with what the state has of them.
	changed map[string]string
	// rolled says that an operation has told what becomes of the VNFCs.
	rolled bool
	// revised says that an operation has told which hooks of a chart run.
	revised bool
	mask    func(string) string
	out     *vnfm.PlannedUpdate
}

// newWords renders what a request leads to; nil where there is no preview. The specification is completed as for a preview.
func (e *Engine) newWords(ctx context.Context, present presentInstance, spec *vnfm.InstanceSpec) (*words, error) {
	after, wanted, err := e.rendered(ctx, present, spec)
	if err != nil || wanted == nil {
		return nil, err
	}
	return &words{
		engine: e, after: after, wanted: wanted, mask: vnfm.ConcealedIn(ctx).Hide,
		out: &vnfm.PlannedUpdate{Operations: []string{}, Changes: map[string][]string{}},
	}, nil
}

// finish bounds what was said and masks the secrets in it.
func (w *words) finish() *vnfm.PlannedUpdate {
	w.out.Operations = limited(w.out.Operations, maxWords)
	for i := range w.out.Operations {
		w.out.Operations[i] = w.mask(w.out.Operations[i])
	}
	for _, lines := range w.out.Changes {
		for i := range lines {
			lines[i] = w.mask(lines[i])
		}
	}
	w.limitChanges()
	return w.out
}

// limited is at most so many lines, the last of which counts those that are left out.
func limited(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most-1]), fmt.Sprintf("and %d more", len(lines)-most+1))
}

// update says what leads an instance from its record to a request.
func (w *words) update(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], spec vnfm.InstanceSpec, changed map[string]string) error {
	in := planInput{
		record: en.Value, spec: spec, wanted: w.wanted, configured: paramsDigest(en.Value.DigestKey, spec.Management),
		observed: true, drift: slices.Sorted(maps.Keys(changed)),
	}
	if had, err := w.engine.openParams(ctx, en); err == nil {
		in.secrets = had.secrets
	}
	if in.record.Recovered {
		// As the update takes it: see takeForKnown.
		in.secrets, in.record.ConfiguredDigest = spec.InfraSecrets, in.configured
	}
	op, err := w.engine.unfinished(ctx, s, en)
	if err != nil {
		return err
	}
	if resumes := op != nil && op.kind() == vnfm.OpInstantiate; resumes || spec.Known.Gone {
		w.instantiate(spec)
		if resumes {
			w.out.Operations[0] += ", resumed"
		}
		return nil
	}
	if op != nil {
		occurrence := op.snapshot()
		in.unfinished = &occurrence
	}
	w.changed = changed
	plan := planUpdate(in)
	operations := plan.operations
	if plan.abandons {
		w.abandoned = in.unfinished.Type
	}
	if w.halfway = slices.ContainsFunc(operations, func(o plannedOperation) bool { return o.TakesBack }); w.halfway {
		en = unfinishedTarget(en, in.unfinished)
	}
	if err := w.readRecorded(ctx, en); err != nil {
		return err
	}
	record := in.record
	for _, o := range operations {
		w.operation(&record, &o)
	}
	w.changes()
	return nil
}

// unfinishedTarget is the record with what an unfinished change leads to.
func unfinishedTarget(en *records.Entry[vnfm.Instance], unfinished *vnfm.Operation) *records.Entry[vnfm.Instance] {
	own := *en
	for param, field := range map[string]*string{paramPackage: &own.Value.PackageID, paramFlavour: &own.Value.FlavourID} {
		if id, ok := unfinished.Parameters[param].(string); ok {
			*field = id
		}
	}
	return &own
}

// readRecorded renders the instance as its record stands, as far as that can still be done. Its secrets are not shown either.
func (w *words) readRecorded(ctx context.Context, en *records.Entry[vnfm.Instance]) error {
	spec, err := w.engine.recordedSpec(ctx, en)
	if err != nil {
		return nil //nolint:nilerr // what was is not known then
	}
	// A preview parts the parameters of a request.
	spec.SecretParams = spec.InfraSecrets
	vnfm.Conceal(ctx, vnfm.TextsIn(spec.SecretParams)...)
	before, r, err := w.engine.rendered(ctx, presentInstance{id: en.Rec.ID, record: en}, &spec)
	if errors.Is(err, vnfm.ErrNotFound) || r == nil && err == nil {
		return nil
	}
	if err != nil {
		return err
	}
	w.before, w.was = before, r.pkg
	return nil
}
