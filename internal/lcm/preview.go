package lcm

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// PreviewInstance implements vnfm.Manager.
func (e *Engine) PreviewInstance(ctx context.Context, id string, spec vnfm.InstanceSpec) (*vnfm.Preview, vnfm.Problems, error) {
	var preview *vnfm.Preview
	given := spec.AdditionalParams
	if id != "" {
		e.plannedAs.Store(id, plannedPlace(&spec))
	}
	e.lookAhead(ctx, id, &spec, seal.KeyWanted())
	present, err := e.present(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	problems, err := e.offline(ctx, present, &spec, func(r *resolution, d vnfm.InfraDriver, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		var found vnfm.Problems
		if preview, found = d.Preview(ctx, t); !found.HasErrors() {
			checkReplaced(preview, spec.ReplaceObjects, &found)
			checkPodNames(r.flavour, preview.VDUs, &spec, &found)
		}
		// Faults of the hooks are reported together with those of the objects.
		e.checkHooks(r, &spec, preview, &found)
		e.checkPlannedHooks(present.record, &spec, r, &found)
		return preview, found
	})
	var declared []string
	if preview != nil {
		declared = preview.ShownSecrets
	}
	warnShown(given, declared, &problems)
	if err != nil || problems.HasErrors() {
		return nil, problems, err
	}
	return preview, problems, nil
}

// lookAhead asks for what a request for an instance reads, all at once. Who applies will take its lease.
func (e *Engine) lookAhead(ctx context.Context, id string, spec *vnfm.InstanceSpec, more ...store.Wanted) {
	s, err := e.store(ctx)
	if err != nil {
		return
	}
	wanted := append(slices.Clone(more), store.Wanted{Kind: store.KindVIM, ID: spec.VIMID})
	for _, c := range spec.Connections {
		wanted = append(wanted, store.Wanted{Kind: store.KindVIM, ID: c.VIMID})
	}
	if id != "" {
		wanted = append(wanted, store.Wanted{Kind: store.KindInstance, ID: id})
	}
	if e.applying.Load() {
		// Leases first: what is read after a look at them is what is there under them.
		leases := []store.Wanted{{Lease: records.ReferencesLease}}
		if id != "" {
			leases = append(leases, store.Wanted{Lease: leaseOf(id)})
		}
		wanted = append(leases, wanted...)
	}
	store.ReadAhead(ctx, s, slices.DeleteFunc(wanted, func(w store.Wanted) bool { return w.Kind == store.KindVIM && w.ID == "" })...)
}

// RenderInstance implements vnfm.Manager.
func (e *Engine) RenderInstance(ctx context.Context, spec vnfm.InstanceSpec) (*vnfm.Rendering, vnfm.Problems, error) {
	var rendering *vnfm.Rendering
	problems, err := e.offline(ctx, presentInstance{onNoVIM: true}, &spec, func(_ *resolution, d vnfm.InfraDriver, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		var found vnfm.Problems
		if rendering, found = d.Render(ctx, t); rendering == nil {
			return nil, found
		}
		return &rendering.Preview, found
	})
	if err != nil || problems.HasErrors() {
		return nil, problems, err
	}
	return rendering, problems, nil
}

// presentInstance is what a preview is of. Its id is empty for a new instance, its record nil also where the store has lost it.
type presentInstance struct {
	id     string
	record *records.Entry[vnfm.Instance]
	// onNoVIM is set for a rendering, which is for no VIM: of a package for several kinds of VIM it has what is for Kubernetes.
	onNoVIM bool
}

// present reads the record of an instance for a preview.
func (e *Engine) present(ctx context.Context, id string) (presentInstance, error) {
	out := presentInstance{id: id}
	if id == "" {
		return out, nil
	}
	s, err := e.store(ctx)
	if err != nil {
		return out, err
	}
	out.record, err = records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		err = nil
	}
	return out, err
}

// copied is one whose record can be completed without a change of the given one.
func (p presentInstance) copied() presentInstance {
	if p.record != nil {
		own := *p.record
		p.record = &own
	}
	return p
}

// offline lets a driver look at what a spec asks for, without the VIM, and notes in
// its preview what the engine knows of it. The VIM is asked for two things: the key of
// an instance whose record the store has lost, and what a chart looks up.
func (e *Engine) offline(ctx context.Context, present presentInstance, spec *vnfm.InstanceSpec,
	look func(*resolution, vnfm.InfraDriver, *vnfm.Target) (*vnfm.Preview, vnfm.Problems),
) (vnfm.Problems, error) {
	if spec.Cluster != nil {
		s, err := e.store(ctx)
		if err != nil {
			return nil, err
		}
		// The record alone: a preview must not need the credentials, which may be a workload
		// cluster's and live on another one.
		vim, err := vims.Get(ctx, s, spec.VIMID)
		if err != nil {
			return nil, err
		}
		if err := e.completeCluster(ctx, s, vim, spec, false); err != nil {
			return nil, err
		}
	}
	r, problems, err := e.resolve(ctx, *spec)
	if err != nil || r == nil {
		return problems, err
	}
	if e.splitParams(r.flavour, spec); infraLater(spec) {
		// The known parameters are checked all the same, those of infra drivers where the VIMs are known.
		if _, found, err := e.previewDriver(ctx, present, spec, r); err == nil {
			problems = append(problems, found...)
		}
		e.checkHooks(r, spec, nil, &problems)
		return problems, nil
	}
	d, more, err := e.previewDriver(ctx, present, spec, r)
	if problems = append(problems, more...); err != nil {
		return nil, err
	}
	if d == nil {
		e.checkHooks(r, spec, nil, &problems)
		return problems, nil
	}
	instance := &vnfm.Instance{Namespace: spec.Namespace, VIMID: spec.VIMID}
	describe(instance, *spec, r)
	present = present.copied()
	if instance.DigestKey, err = e.previewKey(ctx, present, *spec, r); err != nil {
		return nil, err
	}
	if err := e.previewResults(ctx, instance, present, *spec, r); err != nil {
		return nil, err
	}
	if r, err = e.withResults(ctx, instance, spec, r, false); err != nil {
		return nil, err
	}
	describe(instance, *spec, r)
	t := e.target(instance, r, *spec)
	t.Access = e.vims.Open
	if present.onNoVIM && len(e.typesFor(r, false)) > 1 {
		t.Part = withoutServers(r.flavour)
	}
	if d, err = e.withCluster(ctx, d, instance); err != nil {
		return nil, err
	}
	if d, err = multivim.New(ctx, d, t, e.lookupForPreview(d, r)); err != nil {
		return nil, err
	}
	preview, more := look(r, d, t)
	problems = append(problems, more...)
	if preview != nil {
		preview.FlavourID, preview.LevelID = r.flavour.ID, r.levelID
		preview.RegistersVIM = e.management().RegisterVIM(r.flavour)
		preview.ScaleStatus, preview.VNFDID = r.scaleStatus, r.pkg.Descriptor.ID
	}
	return problems, nil
}

// withoutServers is what a Kubernetes VIM has of an instance whose servers are elsewhere.
func withoutServers(f *vnfm.Flavour) *vnfm.Part {
	var servers []string
	for i := range f.VDUs {
		if v := &f.VDUs[i]; !v.OfContainers() {
			servers = append(servers, v.ID)
		}
	}
	return &vnfm.Part{Rest: true, VDUIDs: servers, Alone: true, Foreign: servers}
}

// previewDriver is the infra driver of the own VIM of an instance, nil where the VIMs cannot have what the specification gives them. Of
// VIMs that are registered the namespaces are completed.
func (e *Engine) previewDriver(ctx context.Context, present presentInstance, spec *vnfm.InstanceSpec, r *resolution) (vnfm.InfraDriver, vnfm.Problems, error) {
	d, err := e.infrastructure(ctx, *spec, r)
	if present.onNoVIM && errors.Is(err, vnfm.ErrNotFound) {
		d, err = e.vims.Driver(vnfm.VIMTypeKubernetes)
	}
	if err != nil || spec.Cluster != nil {
		return d, nil, err
	}
	drivers, err := driversOf(ctx, d, spec, e.lookupForPreview(d, r))
	if err != nil {
		return nil, nil, err
	}
	problems := e.checkTaken(ctx, drivers, spec, r)
	if problems.HasErrors() {
		// What a driver would find only repeats them: the template lacks the parameter that is misspelt.
		return nil, problems, nil
	}
	var invalid *vnfm.InvalidError
	if err := e.previewConnections(ctx, present, spec); errors.As(err, &invalid) {
		return nil, append(problems, invalid.Problems...), nil
	} else if err != nil {
		return nil, nil, err
	}
	return d, problems, nil
}

// previewConnections is resolveConnections for an instance that may be new, on VIMs that may not be registered yet.
func (e *Engine) previewConnections(ctx context.Context, present presentInstance, spec *vnfm.InstanceSpec) error {
	if len(spec.Connections) == 0 {
		return nil
	}
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	var connections map[string]vnfm.Connection
	if present.record != nil {
		connections = present.record.Value.Connections
	}
	planned := *spec
	if vim, err := vims.Get(ctx, s, spec.VIMID); err == nil {
		planned.Namespace = e.namespaceOf(*spec, vim)
	}
	known, err := connectedVIMs(ctx, s, spec.Connections)
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return err
	}
	if err := e.completeConnections(&planned, known, connections); err != nil {
		return err
	}
	spec.Connections = planned.Connections
	return nil
}

// checkReplaced finds objects that may be replaced and that there are none of.
func checkReplaced(p *vnfm.Preview, keys []string, problems *vnfm.Problems) {
	for _, key := range keys {
		if _, ok := p.Objects[key]; !ok {
			*problems = append(*problems, vnfm.Problem{
				Attribute: "replace_objects",
				Summary:   "the instance has no object " + strconv.Quote(key),
				Detail:    "an object is named as in changes of a plan, for example " + strconv.Quote(slices.Min(slices.Collect(maps.Keys(p.Objects)))),
			})
		}
	}
}
