package capi

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.ResultKeeper = (*overlay)(nil)

// KeptResults implements vnfm.ResultKeeper. The management cluster keeps the results with the objects of the cluster.
func (o *overlay) KeptResults(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	keeper, ok := o.InfraDriver.(vnfm.ResultKeeper)
	if !ok {
		return nil, nil
	}
	return keeper.KeptResults(ctx, t)
}
