package addons

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ vnfm.ResultKeeper = (*addonDriver)(nil)

// KeptResults implements vnfm.ResultKeeper. The management cluster has the results of all add-ons as of the last apply but one; those
// that it lacks are beside the objects of the add-on. A workload cluster that cannot be reached does not tell of them.
func (d *addonDriver) KeptResults(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	var data []byte
	if keeper, ok := d.InfraDriver.(vnfm.ResultKeeper); ok {
		var err error
		if data, err = keeper.KeptResults(ctx, d.cluster(t)); err != nil {
			return nil, err
		}
	}
	keeper, ok := d.cfg.Workload.(vnfm.ResultKeeper)
	if !ok || len(d.installed) == 0 {
		return data, nil
	}
	vim, credentials, err := d.reach(ctx, t, vnfm.KubeconfigSpec{})
	if err != nil {
		return data, nil //nolint:nilerr // what it does not tell is not known
	}
	for _, a := range d.installed {
		part, err := keeper.KeptResults(ctx, d.target(a, t, vim, credentials))
		if err != nil {
			return data, nil //nolint:nilerr // as above
		}
		data = vnfm.WithPart(data, a.name, part)
	}
	return data, nil
}
