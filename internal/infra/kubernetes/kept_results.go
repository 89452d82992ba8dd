package kubernetes

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.ResultKeeper = (*Driver)(nil)

// KeptResults implements vnfm.ResultKeeper. The results are in the instance's Secret.
func (d *Driver) KeptResults(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	kept, err := d.kept(ctx, t)
	return kept[resultsField], err
}
