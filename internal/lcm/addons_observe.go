package lcm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe implements vnfm.InfraDriver. Of a workload cluster that does not answer, the
// cluster itself is seen all the same.
func (f *furnished) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	seen, err := f.InfraDriver.Observe(ctx, f.cluster(t))
	if err != nil || len(f.addons) == 0 {
		return seen, err
	}
	listed, err := f.observed(ctx, t)
	if err != nil {
		seen.Unseen = append(seen.Unseen, vnfm.ListedAddons)
		return seen, fmt.Errorf("looking at the add-ons: %w", err)
	}
	maps.Copy(seen.Objects, listed)
	return seen, nil
}

// observed are the entries of the add-ons among the objects of their cluster, as they are:
// what was applied, what differs from it, and nothing of one that is not there.
func (f *furnished) observed(ctx context.Context, t *vnfm.Target) (map[string]string, error) {
	vim, credentials, err := f.reach(ctx, t, vnfm.KubeconfigSpec{})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	out := map[string]string{}
	err = f.inOrder(ctx, func(ctx context.Context, a *addon) error {
		text, err := f.observedOne(ctx, a, a.target(t, vim, credentials))
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

func (f *furnished) observedOne(ctx context.Context, a *addon, t *vnfm.Target) (string, error) {
	if a.lost != nil {
		return "", a.lost
	}
	want, problems := f.workload.Preview(ctx, t)
	if err := problems.Err(); err != nil {
		return "", err
	}
	seen, err := f.workload.Observe(ctx, t)
	if err != nil {
		return "", err
	}
	if len(seen.Objects) == 0 && len(want.Objects) > 0 {
		return "", nil
	}
	return compared(want.Objects, seen.Objects), nil
}

// compared is the sum of what is wanted when that is what there is, else what differs.
func compared(want, seen map[string]string) string {
	var differing []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch found, ok := seen[key]; {
		case !ok:
			differing = append(differing, key+" is gone")
		case found == want[key]:
		case strings.HasPrefix(found, vnfm.Drifted):
			differing = append(differing, key+" "+strings.TrimPrefix(found, vnfm.Drifted))
		default:
			differing = append(differing, key+" is another one")
		}
	}
	if len(differing) > 0 {
		return vnfm.Drifted + strings.Join(differing, "; ")
	}
	return sumUp(want)
}

// summedDigits is how many hexadecimal digits of a sum are shown, as many as of an object.
const summedDigits = 16

// sumUp is one digest for many objects.
func sumUp(objects map[string]string) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if objects[key] == "" {
			return ""
		}
		// A hash takes everything.
		_, _ = fmt.Fprintf(h, "%s %s\n", key, objects[key])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))[:summedDigits]
}

// Resources implements vnfm.InfraDriver: the machines, as without add-ons.
func (f *furnished) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	return f.InfraDriver.Resources(ctx, f.cluster(t))
}
