package lcm

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parameters"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// load composes the target of an instance as its record stands.
func (e *Engine) load(ctx context.Context, id string) (*vnfm.Target, vnfm.InfraDriver, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
	if err != nil {
		return nil, nil, err
	}
	return e.bindRecord(ctx, en)
}

// bindRecord composes the target of an instance as its record stands.
func (e *Engine) bindRecord(ctx context.Context, en *records.Entry[vnfm.Instance]) (*vnfm.Target, vnfm.InfraDriver, error) {
	e.attachResults(ctx, en)
	spec, err := e.recordedSpec(ctx, en)
	if err != nil {
		return nil, nil, err
	}
	r, problems, err := e.resolve(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	t, d, err := e.bind(ctx, &en.Value, r, spec)
	if err != nil || spec.Cluster == nil || r.pkg.Complete() {
		return t, d, err
	}
	// The VIM had results that the record could not give.
	if r, err = e.withResults(ctx, &en.Value, &spec, r, false); err != nil {
		return nil, nil, err
	}
	return e.bind(ctx, &en.Value, r, spec)
}

// bind composes a target that can be carried out, with VIM and credentials, and
// returns the driver for all VIMs of the instance.
func (e *Engine) bind(ctx context.Context, i *vnfm.Instance, r *resolution, spec vnfm.InstanceSpec) (*vnfm.Target, vnfm.InfraDriver, error) {
	t := e.target(i, r, spec)
	var err error
	if t.VIM, t.Credentials, err = e.vims.Open(ctx, i.VIMID); err != nil {
		return nil, nil, err
	}
	t.Access, t.FormerAccess = e.vims.Open, e.vims.Former
	t.Arguments = func(ctx context.Context) ([]byte, error) { return e.arguments(ctx, i, &spec) }
	d, err := e.vims.Driver(t.VIM.Type)
	if err != nil {
		return nil, nil, err
	}
	if d, err = e.withCluster(ctx, d, i); err != nil {
		return nil, nil, err
	}
	if d, err = multivim.New(ctx, d, t, e.lookupVIM); err != nil {
		return t, d, err
	}
	if d = inSteps(d); i.Results != nil || !i.HasResults {
		return t, d, nil
	}
	data, err := keptResults(ctx, d, t)
	if err == nil {
		i.Results = vnfm.NewResults(data)
		t.Results = i.Results
	}
	return t, d, err
}

// target composes what a driver needs, without the VIM.
func (e *Engine) target(i *vnfm.Instance, r *resolution, spec vnfm.InstanceSpec) *vnfm.Target {
	results := i.Results
	if results == nil {
		results = vnfm.NewResults(nil)
	}
	var regenerate *vnfm.RegenerateSpec
	if spec.Regenerate != nil && spec.Regenerate.Trigger != i.RegenerateTrigger {
		regenerate = spec.Regenerate
	}
	return &vnfm.Target{
		Results: results, Regenerate: regenerate,
		Instance: i, SecretParams: spec.InfraSecrets, Package: r.pkg, Flavour: r.flavour, Counts: r.counts,
		ForceConflicts: spec.ForceConflicts, AdoptExisting: spec.AdoptExisting, ReplaceObjects: spec.ReplaceObjects,
		ScaleInVNFCIDs: spec.ScaleInVNFCIDs, AvailabilityZones: spec.AvailabilityZones, Warn: spec.Warn,
		DigestKey: i.DigestKey, Concurrency: e.cfg.Concurrency,
	}
}

// withCluster returns the driver of an instance given that of its VIM: a workload cluster is
// made with it, and is more than its objects.
func (e *Engine) withCluster(ctx context.Context, d vnfm.InfraDriver, i *vnfm.Instance) (vnfm.InfraDriver, error) {
	if i.Cluster == nil {
		return d, nil
	}
	clusters, err := e.clusters()
	if err != nil {
		return nil, err
	}
	workload, err := e.vims.Driver(vnfm.VIMTypeKubernetes)
	if err != nil {
		return nil, err
	}
	return addons.New(ctx, clusters.Over(d), i, addons.Config{Workload: workload, Clusters: clusters, Chart: e.catalog.ChartContent}), nil
}

// infrastructure is the infra driver that previews an instance: that of the type of its
// VIM, or, as long as the VIM is not registered, that of what the package is for. A
// package for several kinds of infrastructure has to wait for its VIM.
func (e *Engine) infrastructure(ctx context.Context, spec vnfm.InstanceSpec, r *resolution) (vnfm.InfraDriver, error) {
	if spec.Cluster != nil {
		return e.vims.Driver(vnfm.VIMTypeKubernetes)
	}
	d, err := e.registeredDriver(ctx, spec.VIMID)
	if !errors.Is(err, vnfm.ErrNotFound) {
		return d, err
	}
	types := e.typesFor(r, len(spec.Connections) > 0)
	if len(types) > 1 {
		return nil, err
	}
	return e.vims.Driver(types[0])
}

// registeredDriver is the infra driver for a VIM, by its record alone.
func (e *Engine) registeredDriver(ctx context.Context, vimID string) (vnfm.InfraDriver, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	vim, err := vims.Get(ctx, s, vimID)
	if err != nil {
		return nil, err
	}
	return e.vims.Driver(vim.Type)
}

// typesFor are the types of VIM that a package can be instantiated on: without anything in
// the package that decides it, Kubernetes. With VIM connections, what manifests and charts are for
// may be on one VIM and the rest of the package on another.
func (e *Engine) typesFor(r *resolution, connected bool) []vnfm.VIMType {
	var rest *vnfm.Package
	var flavour *vnfm.Flavour
	if connected {
		p, f := *r.pkg, *r.flavour
		p.KubernetesFiles, f.MCIOPs = nil, nil
		rest, flavour = &p, &f
	}
	var out []vnfm.VIMType
	for _, t := range slices.Sorted(maps.Keys(e.cfg.Drivers)) {
		d := e.cfg.Drivers[t]
		if d.Supports(r.pkg, r.flavour) || connected && d.Supports(rest, flavour) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return []vnfm.VIMType{vnfm.VIMTypeKubernetes}
	}
	return out
}

// lookupVIM opens a further VIM of an instance.
func (e *Engine) lookupVIM(ctx context.Context, id string) (vnfm.InfraDriver, *vnfm.VIM, vnfm.Credentials, error) {
	vim, credentials, err := e.vims.Open(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := e.vims.Driver(vim.Type)
	return d, vim, credentials, err
}

// lookupForPreview finds the driver of a further VIM without opening it. A VIM that is not
// registered yet is taken for one of the type of the instance's own, whose driver is given, where the
// package is for one type.
func (e *Engine) lookupForPreview(own vnfm.InfraDriver, r *resolution) multivim.Lookup {
	return func(ctx context.Context, id string) (vnfm.InfraDriver, *vnfm.VIM, vnfm.Credentials, error) {
		d, err := e.registeredDriver(ctx, id)
		if errors.Is(err, vnfm.ErrNotFound) && len(e.typesFor(r, true)) == 1 {
			d, err = own, nil
		}
		return d, nil, nil, err
	}
}

// paramTable is the table of the additional parameters of all drivers of a configuration.
func paramTable(cfg *Config) *parameters.Table {
	infra := make([]vnfm.InfraDriver, 0, len(cfg.Drivers))
	for _, t := range slices.Sorted(maps.Keys(cfg.Drivers)) {
		infra = append(infra, cfg.Drivers[t])
	}
	return parameters.NewTable(infra, cfg.Management)
}
