package lcm

import (
	"context"
	"fmt"

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
		Users: vimUsers,
		RemoveNotes: func(ctx context.Context, s store.Store, id string) error {
			if err := e.removeTerminated(ctx, s, id); err != nil {
				return err
			}
			if err := removeDryRunNotes(ctx, s, id); err != nil {
				return fmt.Errorf("removing the notes of dry runs on VIM %q: %w", id, err)
			}
			return nil
		},
	})
}
