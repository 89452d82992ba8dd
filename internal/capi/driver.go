package capi

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver is the driver for workload clusters. It is safe for concurrent use.
type Driver struct {
	clients *kube.Pool
}

var _ vnfm.ClusterDriver = (*Driver)(nil)

// New returns the driver. It takes its clients of management clusters from the pool.
func New(clients *kube.Pool) *Driver { return &Driver{clients: clients} }

// Over implements vnfm.ClusterDriver.
func (d *Driver) Over(infra vnfm.InfraDriver) vnfm.InfraDriver {
	return &overlay{InfraDriver: infra, clients: d.clients}
}
