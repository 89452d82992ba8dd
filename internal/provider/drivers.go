package provider

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// drivers are the infra drivers by type of VIM.
func drivers(version string) map[vnfm.VIMType]vnfm.InfraDriver {
	return map[vnfm.VIMType]vnfm.InfraDriver{
		vnfm.VIMTypeKubernetes: kubernetes.New("terraform-provider-vnf/" + version),
	}
}
