package addons

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe implements vnfm.InfraDriver. Of a workload cluster that does not answer, the
// cluster itself is seen all the same.
func (d *addonDriver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	seen, err := d.InfraDriver.Observe(ctx, d.cluster(t))
	if err != nil || len(d.installed) == 0 {
		return seen, err
	}
	listed, err := d.observeAll(ctx, t)
	if ends := seen.Cluster == nil || seen.Cluster.IsDeleting(); ends && errors.Is(err, vnfm.ErrNotFound) {
		// The add-ons go with their cluster, whose kubeconfig is gone.
		err = nil
	}
	if err != nil {
		seen.Unseen = append(seen.Unseen, vnfm.ListedAddons)
		return seen, fmt.Errorf("reading the add-ons: %w", err)
	}
	maps.Copy(seen.Objects, listed)
	for _, a := range d.installed {
		if key := vnfm.AddonKey(a.name); listed[key] == "" {
			seen.Gone = append(seen.Gone, key)
		}
	}
	return seen, nil
}

// observeAll returns the entries of the add-ons among the objects of their cluster, as they are:
// what was applied, what differs from it, and nothing of one that is not there.
func (d *addonDriver) observeAll(ctx context.Context, t *vnfm.Target) (map[string]string, error) {
	vim, credentials, err := d.reach(ctx, t, vnfm.KubeconfigSpec{})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	out := map[string]string{}
	err = d.inOrder(ctx, func(ctx context.Context, a *addon) error {
		text, err := d.observeOne(ctx, a, d.target(a, t, vim, credentials))
		if err != nil || text == "" {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		out[vnfm.AddonKey(a.name)] = text
		return nil
	})
	return out, err
}

func (d *addonDriver) observeOne(ctx context.Context, a *addon, t *vnfm.Target) (string, error) {
	if a.chartErr != nil {
		return "", a.chartErr
	}
	want, problems := d.cfg.Workload.Preview(ctx, t)
	if err := problems.Err(); err != nil {
		return "", err
	}
	seen, err := d.cfg.Workload.Observe(ctx, t)
	if err != nil {
		return "", err
	}
	if len(seen.Objects) == 0 && len(want.Objects) > 0 {
		return "", nil
	}
	return compare(want.Objects, seen.Objects), nil
}

// compare returns one digest for the wanted objects when all of them are there, else how the
// seen ones differ.
func compare(want, seen map[string]string) string {
	var differing []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch found, ok := seen[key]; {
		case !ok:
			differing = append(differing, key+" no longer exists")
		case found == want[key]:
		case strings.HasPrefix(found, vnfm.Drifted):
			differing = append(differing, key+" "+strings.TrimPrefix(found, vnfm.Drifted))
		default:
			differing = append(differing, key+" differs")
		}
	}
	if len(differing) > 0 {
		return vnfm.Drifted + strings.Join(differing, vnfm.DriftSeparator)
	}
	return digestOf(want)
}

// digestOf is one digest for many objects.
func digestOf(objects map[string]string) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if objects[key] == "" {
			return ""
		}
		// A hash takes everything.
		_, _ = fmt.Fprintf(h, "%s %s\n", key, objects[key])
	}
	return digest.Shown(h.Sum(nil))
}

// Resources implements vnfm.InfraDriver: the machines, as without add-ons.
func (d *addonDriver) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	return d.InfraDriver.Resources(ctx, d.cluster(t))
}
