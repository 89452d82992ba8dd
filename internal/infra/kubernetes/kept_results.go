package kubernetes

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.ResultKeeper = (*Driver)(nil)

// KeptResults implements vnfm.ResultKeeper: they are in the Secret beside the objects.
func (d *Driver) KeptResults(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	s, err := d.connect(t, nil)
	if err != nil {
		return nil, err
	}
	ref, err := s.keptRef(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := s.readKept(ctx, ref)
	return kept[resultsField], err
}
