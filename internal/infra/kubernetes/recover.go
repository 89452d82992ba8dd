package kubernetes

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Recover implements vnfm.InfraDriver. It lists the objects with the instance's label, of the package's kinds and of all built-in
// kinds.
func (d *Driver) Recover(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.openToFind(ctx, t, r)
	if err != nil {
		return err
	}
	all, err := s.findAll(ctx, vnfm.VolumesKeep)
	if err != nil {
		return err
	}
	// The Lease of an operation has the label but is not part of the instance.
	all = slices.DeleteFunc(all, func(p *targetObject) bool { return p.object == nil && p.item.Kind == "Lease" })
	return s.save(ctx, all, false)
}
