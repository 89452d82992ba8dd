package kubernetes

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.ResultKeeper = (*Driver)(nil)

// KeptResults implements vnfm.ResultKeeper: they are in the Secret beside the objects.
func (d *Driver) KeptResults(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	kept, err := d.kept(ctx, t)
	return kept[resultsField], err
}
