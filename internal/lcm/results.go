package lcm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Results of random functions of a chart are made once and are secrets. The record has them
// sealed, and the VIM beside the objects, so that a lost store changes none. An operation saves
// new ones before it makes anything of them: a process that resumes it has the same.

// attachResults gives a record the results that are sealed with it. Where they cannot be
// opened it has none, and bind asks the VIM.
func (e *Engine) attachResults(ctx context.Context, en *records.Entry[vnfm.Instance]) {
	if en.Value.Results != nil {
		return
	}
	if !en.Value.HasResults {
		en.Value.Results = vnfm.NewResults(nil)
		return
	}
	if plain, err := e.openInstance(ctx, en); err == nil {
		takeResults(&en.Value, plain)
	}
}

// keepResults has results that the operation makes saved with the record.
func (o *operation) keepResults() {
	o.instance.Value.Results.SavedBy(func(ctx context.Context, data []byte) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		plain := map[string]string{}
		if len(o.instance.Rec.Sealed) > 0 {
			var err error
			if plain, err = o.engine.openInstance(ctx, o.instance); err != nil {
				return err
			}
		}
		plain[sealedResults] = base64.StdEncoding.EncodeToString(data)
		o.instance.Value.HasResults = true
		if err := o.engine.sealInstance(ctx, o.instance, plain); err != nil {
			return fmt.Errorf("sealing the results of random functions of VNF instance %q: %w", o.instance.Value.Name, err)
		}
		return saveInstance(ctx, o.store, o.instance)
	})
}

// keptResults reads the results that the VIM has.
func keptResults(ctx context.Context, d vnfm.InfraDriver, t *vnfm.Target) ([]byte, error) {
	keeper, ok := d.(vnfm.ResultKeeper)
	if !ok {
		return nil, nil
	}
	data, err := keeper.KeptResults(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("looking for the results of random functions of %s %q on its VIM: %w", t.Instance.Noun(), t.Instance.Name, err)
	}
	return data, nil
}

// resultsOnVIM are the results of an instance whose record the store has lost.
func (e *Engine) resultsOnVIM(ctx context.Context, i *vnfm.Instance, spec vnfm.InstanceSpec, r *resolution) (*vnfm.Results, error) {
	t, d, err := e.bind(ctx, i, r, spec)
	if err != nil {
		return nil, err
	}
	data, err := keptResults(ctx, d, t)
	if errors.Is(err, vnfm.ErrKeyLost) {
		// Whoever may not read them could not read the key either.
		return vnfm.NewResults(nil), nil
	}
	return vnfm.NewResults(data), err
}

// previewResults completes the instance of a preview with its results and the trigger of the
// last that were made again. Results that neither record nor VIM tell are not known: the plan
// shows as unknown what depends on them.
func (e *Engine) previewResults(ctx context.Context, i *vnfm.Instance, present presentInstance, spec vnfm.InstanceSpec, r *resolution) error {
	if noteTriggers(i, &spec); present.id == "" {
		return nil
	}
	i.Generation = spec.Known.Generation
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	switch en := present.record; {
	case en != nil:
		e.attachResults(ctx, en)
		i.RegenerateTrigger, i.AddonTriggers, i.Generation = en.Value.RegenerateTrigger, en.Value.AddonTriggers, en.Value.Generation
		if i.Results = en.Value.Results; i.Results != nil {
			return nil
		}
	case len(i.DigestKey) == 0:
		// The VIM did not tell the key either.
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyLimit)
	defer cancel()
	vim, err := vims.Get(ctx, s, spec.VIMID)
	if err != nil {
		return nil //nolint:nilerr // a VIM that is not known tells nothing
	}
	spec.Namespace = e.namespaceOf(spec, vim)
	if i.Results, err = e.resultsOnVIM(ctx, describedInstance(present.id, spec, r), spec, r); err != nil {
		i.Results = nil
	}
	return nil
}

// noteTriggers records that the results that a request wants made again are.
func noteTriggers(i *vnfm.Instance, spec *vnfm.InstanceSpec) {
	if spec.Regenerate != nil {
		i.RegenerateTrigger = spec.Regenerate.Trigger
	}
	if spec.Cluster != nil {
		i.AddonTriggers = addons.Triggers(i.AddonTriggers, spec.Cluster)
	}
}

// withResults renders the chart of a workload cluster, if it needs results of random functions, with those of its record, and makes with
// makes set what is missing. Those are saved with the first change of the record, before anything is made of them.
func (e *Engine) withResults(ctx context.Context, i *vnfm.Instance, spec *vnfm.InstanceSpec, r *resolution, makes bool) (*resolution, error) {
	if spec.Cluster == nil || r.pkg.Complete() || i.Results == nil {
		return r, nil
	}
	cluster := *spec.Cluster
	cluster.Results, cluster.MakeResults = i.Results, makes
	if spec.Regenerate != nil && spec.Regenerate.Trigger != i.RegenerateTrigger {
		cluster.Regenerate = spec.Regenerate
	}
	spec.Cluster = &cluster
	complete, problems, err := e.resolve(ctx, *spec)
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return r, err
	}
	spec.PackageID = complete.pkg.ID
	return complete, nil
}
