package multivim

import (
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// linksOfPart are the networks for what one VIM has of an instance: those of connection
// points of its VDUs. Links of no VDU, such as an internal virtual link, are for every VIM
// that has one without containers.
func linksOfPart(f *vnfm.Flavour, part *vnfm.Part, all vnfm.Links) vnfm.Links {
	machines := slices.ContainsFunc(f.VDUs, func(v vnfm.VDU) bool { return v.Workload == nil && part.Has(v.ID) })
	vdus := map[string]string{}
	for _, cp := range f.ConnectionPoints {
		vdus[cp.ID] = cp.VDUID
	}
	var out vnfm.Links
	for name, link := range all.External {
		here := vnfm.ExtVirtualLink{ResourceID: link.ResourceID, ExtCPs: map[string]vnfm.ExtCP{}}
		for id, cp := range link.ExtCPs {
			if vdu := vdus[id]; vdu == "" && machines || vdu != "" && part.Has(vdu) {
				here.ExtCPs[id] = cp
			}
		}
		if len(here.ExtCPs) > 0 {
			if out.External == nil {
				out.External = map[string]vnfm.ExtVirtualLink{}
			}
			out.External[name] = here
		}
	}
	if machines {
		out.Managed = all.Managed
	}
	return out
}
