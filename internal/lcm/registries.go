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
		Store: e.store, Driver: e.cfg.Registries, Lock: e.lockForChange, Resources: e.resourcesOf, Progress: e.cfg.Progress,
		Package: e.catalog.PackageOf, RemoveUnusedPackages: e.catalog.RemoveUnusedPackages,
		WriteReferring: func(ctx context.Context, s store.Store, spec *vnfm.RegistrySpec, write func(ctx context.Context) error) error {
			return e.writeReferring(ctx, s, registryReferences(spec), write)
		},
	})
}

// CheckRegistry implements vnfm.Manager.
func (e *Engine) CheckRegistry(ctx context.Context, spec vnfm.RegistrySpec) (vnfm.Problems, error) {
	return e.registries.CheckRegistry(ctx, spec)
}

// InstallRegistry implements vnfm.Manager.
func (e *Engine) InstallRegistry(ctx context.Context, id string, spec vnfm.RegistrySpec) (*vnfm.Registry, error) {
	return e.registries.InstallRegistry(ctx, id, spec)
}

// Registry implements vnfm.Manager.
func (e *Engine) Registry(ctx context.Context, id string) (*vnfm.Registry, error) {
	return e.registries.Registry(ctx, id)
}

// Registries implements vnfm.Manager.
func (e *Engine) Registries(ctx context.Context, filter vnfm.RegistryFilter) ([]vnfm.Registry, error) {
	return e.registries.Registries(ctx, filter)
}

// ReadRegistry implements vnfm.Manager.
func (e *Engine) ReadRegistry(ctx context.Context, id string) (*vnfm.Registry, error) {
	return e.registries.ReadRegistry(ctx, id)
}

// RemoveRegistry implements vnfm.Manager.
func (e *Engine) RemoveRegistry(ctx context.Context, id string, data bool) error {
	return e.registries.RemoveRegistry(ctx, id, data)
}
