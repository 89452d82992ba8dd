package lcm

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// PreviewInstance implements vnfm.Manager.
func (e *Engine) PreviewInstance(ctx context.Context, id string, spec vnfm.InstanceSpec) (*vnfm.Preview, vnfm.Problems, error) {
	var preview *vnfm.Preview
	given := spec.AdditionalParams
	if id != "" {
		e.plannedAs.Store(id, plannedPlace(&spec))
	}
	problems, err := e.offline(ctx, id, &spec, func(r *resolution, d vnfm.InfraDriver, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		var found vnfm.Problems
		if preview, found = d.Preview(ctx, t); !found.HasErrors() {
			checkReplaced(preview, spec.ReplaceObjects, &found)
		}
		// Faults of the hooks are reported together with those of the objects.
		e.checkHooks(r, &spec, preview, &found)
		e.checkPlannedHooks(ctx, id, &spec, r, &found)
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

// RenderInstance implements vnfm.Manager.
func (e *Engine) RenderInstance(ctx context.Context, spec vnfm.InstanceSpec) (*vnfm.Rendering, vnfm.Problems, error) {
	var rendering *vnfm.Rendering
	problems, err := e.offline(ctx, "", &spec, func(_ *resolution, d vnfm.InfraDriver, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
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

// offline lets a driver look at what a spec asks for, without the VIM, and notes in
// its preview what the engine knows of it. The VIM is asked for one thing: the key of
// an instance whose record the store has lost.
func (e *Engine) offline(ctx context.Context, id string, spec *vnfm.InstanceSpec,
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
		// The known parameters of management drivers are checked all the same.
		e.checkHooks(r, spec, nil, &problems)
		return problems, nil
	}
	d, err := e.infrastructure(ctx, *spec, r)
	if err != nil {
		return nil, err
	}
	instance := &vnfm.Instance{Namespace: spec.Namespace, VIMID: spec.VIMID}
	describe(instance, *spec, r)
	if instance.DigestKey, err = e.previewKey(ctx, id, *spec, r); err != nil {
		return nil, err
	}
	if err := e.previewResults(ctx, instance, id, *spec, r); err != nil {
		return nil, err
	}
	if r, err = e.settle(ctx, instance, spec, r, false); err != nil {
		return nil, err
	}
	describe(instance, *spec, r)
	t := e.target(instance, r, *spec)
	if d, err = e.withCluster(ctx, d, instance); err != nil {
		return nil, err
	}
	if d, err = multivim.New(ctx, d, t, e.lookupForPreview(d)); err != nil {
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

// checkReplaced finds objects that may be replaced and that there are none of.
func checkReplaced(p *vnfm.Preview, keys []string, problems *vnfm.Problems) {
	for _, key := range keys {
		if _, ok := p.Objects[key]; !ok {
			*problems = append(*problems, vnfm.Problem{
				Attribute: "replace_objects",
				Summary:   "the instance has no object " + strconv.Quote(key),
				Detail:    "an object is named as in the attribute objects, for example " + strconv.Quote(slices.Min(slices.Collect(maps.Keys(p.Objects)))),
			})
		}
	}
}
