package lcm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// found is an instance that a VIM was found to have.
type found struct {
	vnfm.FoundInstance
	vim *vnfm.VIM
}

// AdoptInstance implements vnfm.Manager.
func (e *Engine) AdoptInstance(ctx context.Context, p vnfm.InstancePlace) (*vnfm.Instance, error) {
	ctx = vnfm.WithConcealed(ctx)
	i, err := e.adopt(ctx, p)
	return i, vnfm.ConcealedIn(ctx).Error(err)
}

func (e *Engine) adopt(ctx context.Context, p vnfm.InstancePlace) (*vnfm.Instance, error) {
	one, err := e.findOne(ctx, p)
	if err != nil {
		return nil, err
	}
	kept, err := e.readArguments(ctx, one.vim, &one.FoundInstance)
	if err != nil {
		return nil, err
	}
	if len(one.Arguments) == 0 && p.Kind == vnfm.WorkloadCluster {
		// Its objects do not tell which arguments have made them.
		return nil, fmt.Errorf("the arguments of workload cluster %q on VIM %q: %w", one.Name, one.vim.Name, vnfm.ErrNotFound)
	}
	if kept.Kind() != p.Kind {
		return nil, &vnfm.ConflictError{
			Object: fmt.Sprintf("%q on VIM %q", p, one.vim.Name), Owner: fmt.Sprintf("a %s, with the id %s", kept.Kind(), one.ID),
			Detail: fmt.Sprintf("it cannot be imported as a %s", p.Kind),
		}
	}
	spec := specOf(kept)
	spec.Known = vnfm.KnownState{Status: vnfm.StatusInstantiated}
	if kept.HealTrigger != "" {
		spec.Heal = &vnfm.HealSpec{Trigger: kept.HealTrigger}
	}
	if kept.RegenerateTrigger != "" {
		spec.Regenerate = &vnfm.RegenerateSpec{Trigger: kept.RegenerateTrigger}
	}
	for name, trigger := range kept.AddonTriggers {
		if a, known := spec.Cluster.Addons[name]; known {
			a.Regenerate = &vnfm.RegenerateSpec{Trigger: trigger}
			spec.Cluster.Addons[name] = a
		}
	}
	if kept.Rotation != nil {
		spec.RotationTrigger = kept.Rotation.Trigger
	}
	s, r, problems, err := e.resolveSpec(ctx, &spec)
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("instance %s on VIM %q is VNF package %q; onboard that package before the import: %w", one.ID, one.vim.Name, kept.PackageID, err)
	}
	if err := e.resolveConnections(ctx, s, &spec, nil); err != nil {
		return nil, err
	}
	en, err := e.recover(ctx, s, one.ID, spec, r, e.recoverKey)
	if errors.Is(err, store.ErrExists) {
		return nil, &vnfm.ConflictError{
			Object: fmt.Sprintf("the name %q in namespace %q of VIM %q, or the id %s", spec.Name, spec.Namespace, one.vim.Name, one.ID),
			Owner:  "another instance of this store", Detail: "import that instance, or destroy one of the two first",
		}
	}
	if err != nil {
		return nil, err
	}
	return &en.Value, nil
}

// UnrecordedInstances implements vnfm.Manager.
func (e *Engine) UnrecordedInstances(ctx context.Context, vimID, namespace string) ([]vnfm.Instance, error) {
	ctx = vnfm.WithConcealed(ctx)
	out, err := e.unrecorded(ctx, vimID, namespace)
	return out, vnfm.ConcealedIn(ctx).Error(err)
}

func (e *Engine) unrecorded(ctx context.Context, vimID, namespace string) ([]vnfm.Instance, error) {
	all, _, err := e.findOn(ctx, vimID, vnfm.InstancePlace{Namespace: namespace, Kind: vnfm.NetworkFunction})
	if err != nil {
		return nil, err
	}
	var out []vnfm.Instance
	for n := range all {
		one := &all[n]
		if _, err := e.Instance(ctx, one.ID); !errors.Is(err, vnfm.ErrNotFound) {
			if err != nil {
				return nil, err
			}
			continue
		}
		i, err := e.readArguments(ctx, one.vim, &one.FoundInstance)
		if err != nil {
			return nil, err
		}
		if i.Kind() == vnfm.NetworkFunction && (namespace == "" || i.Namespace == namespace) {
			out = append(out, *i)
		}
	}
	return out, nil
}

// findOne finds the one instance of a place.
func (e *Engine) findOne(ctx context.Context, p vnfm.InstancePlace) (*found, error) {
	candidates, err := e.placeVIMs(ctx, p)
	if err != nil {
		return nil, err
	}
	var all []found
	var names []string
	var errs []error
	for _, id := range candidates {
		these, name, err := e.findOn(ctx, id, p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all, names = append(all, these...), append(names, strconv.Quote(name))
	}
	switch {
	case len(all) == 1:
		return &all[0], nil
	case len(all) > 1:
		var which []string
		for i := range all {
			which = append(which, fmt.Sprintf("%s in namespace %q of VIM %q", all[i].ID, all[i].Namespace, all[i].vim.Name))
		}
		return nil, fmt.Errorf("%q can be one of %d instances: %s; import one of them by its id", p, len(all), strings.Join(which, ", "))
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	case len(candidates) == 0:
		return nil, fmt.Errorf("the store has no VIM to look for %q on; register its VIM first: %w", p, vnfm.ErrNotFound)
	default:
		return nil, fmt.Errorf("looking for %s %q on VIM %s: %w", p.Kind, p, strings.Join(names, ", "), vnfm.ErrNotFound)
	}
}

// placeVIMs are the ids of the VIMs that a place may be on.
func (e *Engine) placeVIMs(ctx context.Context, p vnfm.InstancePlace) ([]string, error) {
	all, err := e.VIMs(ctx, vnfm.VIMFilter{})
	if err != nil {
		return nil, err
	}
	var out, known []string
	for i := range all {
		if p.VIM == "" || p.VIM == all[i].ID || p.VIM == all[i].Name {
			out = append(out, all[i].ID)
		}
		known = append(known, all[i].Name)
	}
	if p.VIM != "" && len(out) == 0 {
		slices.Sort(known)
		return nil, fmt.Errorf("the store has no VIM with the name or id %q; it has %s; register the VIM first: %w", p.VIM, vnfm.QuotedNames(known), vnfm.ErrNotFound)
	}
	return out, nil
}

// findOn finds the instances of a place on one VIM, of which it returns the name.
func (e *Engine) findOn(ctx context.Context, vimID string, p vnfm.InstancePlace) (all []found, name string, err error) {
	vim, credentials, err := e.vims.Open(ctx, vimID)
	if err != nil {
		return nil, "", err
	}
	d, err := e.vims.Driver(vim.Type)
	if err != nil {
		return nil, "", err
	}
	if p.Namespace == "" && p.Name != "" {
		p.Namespace = vim.DefaultNamespace()
	}
	p.VIM = vim.ID
	t := &vnfm.Target{
		VIM: vim, Credentials: credentials, Concurrency: e.cfg.Concurrency,
		Instance: &vnfm.Instance{ID: p.ID, Name: p.Name, VIMID: vim.ID, Namespace: cmp.Or(p.Namespace, vim.DefaultNamespace())},
	}
	these, err := d.Find(ctx, t, p)
	for i := range these {
		all = append(all, found{FoundInstance: these[i], vim: vim})
	}
	return all, vim.Name, err
}
