package hot

import "github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"

func translate(p *vnfm.Package, f *vnfm.Flavour) (*Source, vnfm.Problems) {
	return nil, vnfm.Problems{{File: f.ID}}
}
