package lcm

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ReadPackage implements vnfm.Manager.
func (e *Engine) ReadPackage(ctx context.Context, spec vnfm.PackageSpec) (*vnfm.Package, vnfm.Problems, error) {
	return e.catalog.ReadPackage(ctx, spec)
}

// OnboardPackage implements vnfm.Manager.
func (e *Engine) OnboardPackage(ctx context.Context, spec vnfm.PackageSpec, wantID string) (*vnfm.Package, vnfm.Problems, error) {
	e.applying.Store(true)
	return e.catalog.OnboardPackage(ctx, spec, wantID)
}

// Package implements vnfm.Manager.
func (e *Engine) Package(ctx context.Context, id string) (*vnfm.Package, error) {
	return e.catalog.Package(ctx, id)
}

// PackageByName implements vnfm.Manager.
func (e *Engine) PackageByName(ctx context.Context, name string) (*vnfm.Package, error) {
	return e.catalog.PackageByName(ctx, name)
}

// Packages implements vnfm.Manager.
func (e *Engine) Packages(ctx context.Context, filter vnfm.PackageFilter) ([]vnfm.Package, error) {
	return e.catalog.Packages(ctx, filter)
}

// HoldPackage implements vnfm.Manager.
func (e *Engine) HoldPackage(ctx context.Context, id, share string) error {
	return e.catalog.HoldPackage(ctx, id, share)
}

// ReleasePackage implements vnfm.Manager.
func (e *Engine) ReleasePackage(ctx context.Context, id, share string) error {
	return e.catalog.ReleasePackage(ctx, id, share)
}

// ResolveChart implements vnfm.Manager.
func (e *Engine) ResolveChart(ctx context.Context, source vnfm.ChartSource) (*vnfm.Chart, error) {
	return e.catalog.ResolveChart(ctx, source)
}
