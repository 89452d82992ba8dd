package kubernetes

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Params implements vnfm.InfraDriver.
func (*Driver) Params() vnfm.InfraParams { return render.Params() }

// PackageParams implements vnfm.InfraDriver: a package declares none.
func (*Driver) PackageParams(context.Context, *vnfm.Package, *vnfm.Flavour) ([]string, bool) {
	return nil, true
}

// Supports implements vnfm.InfraDriver.
func (*Driver) Supports(p *vnfm.Package, f *vnfm.Flavour) bool { return p.HasContainers(f) }
