package multivim

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.ResultKeeper = (*multiVIMDriver)(nil)

// KeptResults implements vnfm.ResultKeeper: all VIMs keep the same, and one that cannot be
// looked at matters only when no other one tells.
func (m *multiVIMDriver) KeptResults(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	kept := make([][]byte, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		if keeper, ok := v.driver.(vnfm.ResultKeeper); ok {
			kept[i], err = keeper.KeptResults(ctx, t)
		}
		return err
	})
	for _, data := range kept {
		if len(data) > 0 {
			return data, nil
		}
	}
	return nil, err
}
