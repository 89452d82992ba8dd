package kubernetes

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Params implements vnfm.InfraDriver.
func (*Driver) Params() vnfm.InfraParams { return render.Params() }

// Supports implements vnfm.InfraDriver.
func (*Driver) Supports(p *vnfm.Package, f *vnfm.Flavour) bool { return p.HasContainers(f) }
