package capi

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver is the driver for workload clusters. It is safe for concurrent use.
type Driver struct {
	clients *kube.Pool
	clouds  *openstack.Pool
}

var _ vnfm.ClusterDriver = (*Driver)(nil)

// New returns the driver. The pools provide the clients of management clusters, and of the
// clouds for which workload clusters have credentials.
func New(clients *kube.Pool, clouds *openstack.Pool) *Driver {
	return &Driver{clients: clients, clouds: clouds}
}

// Over implements vnfm.ClusterDriver.
func (d *Driver) Over(infra vnfm.InfraDriver) vnfm.InfraDriver {
	return &overlay{InfraDriver: infra, clients: d.clients, clouds: d.clouds}
}
