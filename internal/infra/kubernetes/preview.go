package kubernetes

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Preview renders the target offline: what its VDUs and objects will be. Problems
// that are errors leave no preview.
func (d *Driver) Preview(t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	r, ps := render(t)
	if ps.HasErrors() {
		return nil, ps
	}
	return r.preview(t), ps
}

// preview is what the target will consist of.
func (r *rendering) preview(t *vnfm.Target) *vnfm.Preview {
	preview := &vnfm.Preview{
		FlavourID:   t.Flavour.ID,
		LevelID:     t.Instance.LevelID,
		ScaleStatus: t.Instance.ScaleStatus,
		VDUs:        r.states,
		Objects:     make(map[string]string, len(r.objects)),
	}
	if t.Package.Descriptor != nil {
		preview.VNFDID = t.Package.Descriptor.ID
	}
	for _, o := range r.objects {
		preview.Objects[o.key] = o.digest
	}
	return preview
}
