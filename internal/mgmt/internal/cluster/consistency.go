package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkNetworks rejects overlapping networks of pods and services.
func (s *Settings) checkNetworks(o *params.Object) {
	if s.PodCIDR.IsValid() && s.ServiceCIDR.IsValid() && s.PodCIDR.Overlaps(s.ServiceCIDR) {
		o.Errorf(masterNode+"."+serviceCIDR, "pods and services need networks of their own", "%s overlaps with %s %s", s.ServiceCIDR, podCIDR, s.PodCIDR)
	}
}

// checkVDUs rejects a VDU with two roles.
func (s *Settings) checkVDUs(o *params.Object) {
	roles := []struct{ at, vdu, role string }{{masterNode, s.Master.Access.VDU, "masters"}, {workerNode, s.Worker.Access.VDU, "workers"}}
	if s.LoadBalancer != nil {
		roles = append(roles, struct{ at, vdu, role string }{"external_lb_param", s.LoadBalancer.Access.VDU, "load balancers"})
	}
	for n, this := range roles {
		for _, other := range roles[:n] {
			if this.vdu != "" && this.vdu == other.vdu {
				o.Errorf(this.at+".ssh_cp_name", "each role needs a VDU of its own", "is of VDU %s, whose servers are the %s", this.vdu, other.role)
			}
		}
	}
}

// checkAspect rejects a scaling aspect that does not exist or does not scale the nodes.
func (r Reader) checkAspect(o *params.Object, g Group) {
	if g.AspectID == "" {
		return
	}
	aspect := r.flavour.Aspect(g.AspectID)
	if aspect == nil {
		ids := r.flavour.AspectIDs()
		detail := fmt.Sprintf("deployment flavour %q has %s", r.flavour.ID, strings.Join(ids, ", "))
		if like := vnfm.Nearest(g.AspectID, ids); like != "" {
			detail = fmt.Sprintf("did you mean %q? %s", like, detail)
		}
		o.Errorf("aspect_id", detail, "names no scaling aspect: %q", g.AspectID)
		return
	}
	if scaled := scaledBy(aspect); g.Access.VDU != "" && len(scaled) > 0 && !slices.Contains(scaled, g.Access.VDU) {
		o.Errorf("aspect_id", "it scales "+strings.Join(scaled, ", "), "names a scaling aspect that does not scale VDU %s: %q", g.Access.VDU, g.AspectID)
	}
}

// scaledBy returns the VDUs that an aspect scales.
func scaledBy(a *vnfm.ScalingAspect) []string {
	var out []string
	for _, delta := range a.Deltas {
		for vdu := range delta {
			if !slices.Contains(out, vdu) {
				out = append(out, vdu)
			}
		}
	}
	slices.Sort(out)
	return out
}
