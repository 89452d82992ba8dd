package lcm

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newVIMs returns what registers VIMs for the engine.
func (e *Engine) newVIMs() *vims.Manager {
	return vims.New(vims.Config{
		Store: e.store, Keyring: e.cfg.Keyring, Drivers: e.cfg.Drivers, PerRun: e.cfg.VIMs, WithReferences: e.withReferences,
		Kubeconfig: func(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.Kubeconfig, error) {
			return e.WorkloadKubeconfig(ctx, ref, vnfm.KubeconfigSpec{})
		},
		CheckReferences: func(ctx context.Context, s store.Store, v *vnfm.VIM) error {
			return checkReferences(ctx, s, vimReferences(v))
		},
		WriteReferring: func(ctx context.Context, s store.Store, v *vnfm.VIM, write func(ctx context.Context) error) error {
			return e.writeReferring(ctx, s, vimReferences(v), write)
		},
		InstancesOn: func(ctx context.Context, s store.Store, id string) ([]string, error) {
			found, err := instancesOn(ctx, s, id)
			return instanceNames(found), err
		},
		Users:   vimUsers,
		WithVIM: e.withVIM,
		ForeignOn: func(ctx context.Context, s store.Store, id, share string) ([]string, error) {
			found, err := instancesOn(ctx, s, id)
			// A new instance may be anybody's before its first read.
			return instanceNames(slices.DeleteFunc(found, func(en *records.Entry[vnfm.Instance]) bool {
				return !en.Value.Acknowledged || en.Value.VIMShares[id] == share
			})), err
		},
		RemovalWanted: func(id string) []store.Wanted {
			return []store.Wanted{{Kind: store.KindInstance}, {Kind: store.KindVIM}, {Kind: store.KindOperation}, {Kind: store.KindDryRun, Owner: id}}
		},
		RemoveNotes: func(ctx context.Context, s store.Store, id string) error {
			var both errgroup.Group
			both.Go(func() error { return e.removeTerminated(ctx, s, id) })
			both.Go(func() error {
				if err := removeDryRunNotes(ctx, s, id); err != nil {
					return fmt.Errorf("removing the notes of dry runs on VIM %q: %w", id, err)
				}
				return nil
			})
			return both.Wait()
		},
	})
}

// withVIM runs a function under the lease of a VIM, whose credentials several processes may be about to replace.
func (e *Engine) withVIM(ctx context.Context, s store.Store, id, name string, do func(ctx context.Context) error) error {
	var done func()
	err := vnfm.RetryWhileBusy(vnfm.WithLockTimeout(ctx, referencesLockTimeout), func() error {
		work, release, err := e.lock(ctx, s, records.VIMLease(id), fmt.Sprintf("VIM %q", name))
		if err == nil {
			ctx, done = work, release
		}
		return err
	})
	if err != nil {
		return err
	}
	defer done()
	return do(ctx)
}

// noteShares notes which shares of its VIMs are managed together with an instance: those of the resources of this process, which
// are read before the instance. It reports whether that changed something.
func (e *Engine) noteShares(i *vnfm.Instance) bool {
	shares := maps.Clone(i.VIMShares)
	for _, id := range i.VIMIDs() {
		held := e.vims.Held(id)
		if len(held) == 0 || slices.Contains(held, shares[id]) {
			continue
		}
		if shares == nil {
			shares = map[string]string{}
		}
		shares[id] = held[0]
	}
	if maps.Equal(shares, i.VIMShares) {
		return false
	}
	i.VIMShares = shares
	return true
}
