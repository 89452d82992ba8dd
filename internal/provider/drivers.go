package provider

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/capi"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/credentials"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// drivers are the infra drivers by type of VIM, and the one for workload clusters.
// They share their clients.
func drivers(version string) (map[vnfm.VIMType]vnfm.InfraDriver, vnfm.ClusterDriver) {
	clients := kube.NewPool("terraform-provider-vnf/" + version)
	return map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: kubernetes.New(clients)}, capi.New(clients)
}

// management are the management drivers by the name that a VNFD gives.
func management() map[string]vnfm.ManagementDriver {
	return map[string]vnfm.ManagementDriver{vnfm.CredentialsSender: credentials.New()}
}
