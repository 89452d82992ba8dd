package kubernetes

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// defaultConcurrency bounds the requests in flight when the target does not.
const defaultConcurrency = 16

// Driver is the infra driver for Kubernetes VIMs. It is safe for concurrent use.
type Driver struct {
	clients *kube.Pool
}

var _ vnfm.InfraDriver = (*Driver)(nil)

// New returns the driver. It takes its clients from the pool.
func New(clients *kube.Pool) *Driver { return &Driver{clients: clients} }

// CheckVIM reaches the API server, authenticates and looks what it offers.
func (d *Driver) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	client, err := d.clients.Client(spec.Name, spec.Kubernetes, spec.Credentials)
	if err != nil {
		return vnfm.VIMCheck{}, err
	}
	check, err := client.Check(ctx)
	if check.ClusterUID = spec.ClusterUID; err == nil && check.ClusterUID == "" {
		check.ClusterUID, err = client.ClusterUID(ctx)
	}
	return check, err
}
