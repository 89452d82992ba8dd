package provider

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/capi"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/clusterscript"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/credentials"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/kubespray"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/playbook"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/privateregistry"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/script"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// drivers gives the manager its infra drivers by type of VIM and the one for workload
// clusters. They share their clients.
func drivers(userAgent string, cfg *lcm.Config) {
	clients, clouds := kube.NewPool(userAgent), openstack.NewPool(userAgent)
	cfg.Drivers = map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: kubernetes.New(clients), vnfm.VIMTypeOpenStack: heat.New(clouds)}
	cfg.Clusters = capi.New(clients, clouds)
	cfg.Registries = privateregistry.NewInstaller()
}

// management are the management drivers by the name, or the type, of the artifact that a
// VNFD gives.
func management() map[string]vnfm.ManagementDriver {
	return map[string]vnfm.ManagementDriver{
		vnfm.CredentialsSender: credentials.New(),
		vnfm.Kubespray:         kubespray.New(),
		vnfm.KubernetesScript:  clusterscript.New(),
		vnfm.PrivateRegistry:   privateregistry.New(),
		vnfm.ArtifactBash:      script.New(),
		vnfm.ArtifactAnsible:   playbook.New(),
	}
}
