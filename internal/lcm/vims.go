package lcm

import (
	"context"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newVIMs returns what registers VIMs for the engine.
func (e *Engine) newVIMs() *vims.Manager {
	return vims.New(vims.Config{
		Store: e.store, Keyring: e.cfg.Keyring, Drivers: e.cfg.Drivers, WithReferences: e.withReferences,
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

// CheckVIM implements vnfm.Manager.
func (e *Engine) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return e.vims.CheckVIM(ctx, spec)
}

// RegisterVIM implements vnfm.Manager.
func (e *Engine) RegisterVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	e.applying.Store(true)
	return e.vims.RegisterVIM(ctx, id, spec)
}

// UpdateVIM implements vnfm.Manager.
func (e *Engine) UpdateVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	e.applying.Store(true)
	return e.vims.UpdateVIM(ctx, id, spec)
}

// VIM implements vnfm.Manager.
func (e *Engine) VIM(ctx context.Context, id string) (*vnfm.VIM, error) { return e.vims.VIM(ctx, id) }

// VIMByName implements vnfm.Manager.
func (e *Engine) VIMByName(ctx context.Context, name string) (*vnfm.VIM, error) {
	return e.vims.VIMByName(ctx, name)
}

// VIMs implements vnfm.Manager.
func (e *Engine) VIMs(ctx context.Context, filter vnfm.VIMFilter) ([]vnfm.VIM, error) {
	return e.vims.VIMs(ctx, filter)
}

// CheckRegisteredVIM implements vnfm.Manager.
func (e *Engine) CheckRegisteredVIM(ctx context.Context, id string, limit time.Duration) (*vnfm.VIM, error) {
	return e.vims.CheckRegisteredVIM(ctx, id, limit)
}

// DeregisterVIM implements vnfm.Manager.
func (e *Engine) DeregisterVIM(ctx context.Context, id string) error {
	return e.vims.DeregisterVIM(ctx, id)
}
