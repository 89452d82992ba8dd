package lcm

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/registries"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newRegistries returns what installs private registries for the engine.
func (e *Engine) newRegistries() *registries.Manager {
	return registries.New(registries.Config{
		Store: e.store, Driver: e.cfg.Registries, Lock: e.lockForChange, Resources: e.resourcesOf, Progress: e.cfg.Progress, Forgets: e.forgets,
		Package: e.catalog.PackageOf, RemoveUnusedPackages: e.catalog.RemoveUnusedPackages,
		WriteReferring: func(ctx context.Context, s store.Store, spec *vnfm.RegistrySpec, write func(ctx context.Context) error) error {
			return e.writeReferring(ctx, s, registryReferences(spec), write)
		},
	})
}
