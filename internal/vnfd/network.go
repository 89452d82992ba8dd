package vnfd

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func (r *reader) readNetwork(f *indexed, t *template) {
	offered := t.offered()
	vdus := map[string]bool{}
	for _, n := range t.of(kindVDU, kindTackerVDU) {
		vdus[n.name] = true
	}
	for _, n := range t.nodes {
		if n.kind != kindVduCp && n.kind != kindVirtualCp && n.kind != kindExtCp {
			continue
		}
		cp := vnfm.ConnectionPoint{
			ID:        n.name,
			Type:      n.typ,
			External:  n.kind == kindExtCp || offered[n.name],
			Protocols: n.property("layer_protocols").texts(),
			VNICType:  n.property("vnic_type").str(),
		}
		cp.Order, _ = n.property("order").count()
		key := []string{"flavour", f.ID, "cp", n.name}
		r.places.add(n.key, key...)
		for _, req := range n.requirements() {
			switch req.name {
			case "virtual_binding", "virtualBinding":
				cp.VDUID = req.node
				r.places.add(req.value, append(key, "vdu")...)
			case "target":
				// A VirtualCp names the VDU, a VipCp the VduCps that share the address.
				if vdus[req.node] {
					cp.VDUID = req.node
				}
			case "virtual_link", "internal_virtual_link", "virtualLink":
				cp.VirtualLinkID = req.node
				r.places.add(req.value, append(key, "link")...)
			}
		}
		f.ConnectionPoints = append(f.ConnectionPoints, cp)
	}
	for _, n := range t.of(kindVirtualLink) {
		vl := vnfm.VirtualLink{
			ID:          n.name,
			Protocols:   n.property("connectivity_type").get("layer_protocols").texts(),
			NetworkName: n.property("network_name").str(),
		}
		readSubnets(&vl, n)
		r.places.add(n.key, "flavour", f.ID, "link", n.name)
		f.VirtualLinks = append(f.VirtualLinks, vl)
	}
}

// offered are the nodes whose requirements substitution_mappings hand on to the
// environment of the VNF: {virtual_link: [CP1, virtual_link]}.
func (t *template) offered() map[string]bool {
	names := map[string]bool{}
	for _, e := range t.topo.at("substitution_mappings", "requirements").entries() {
		if items := e.items(); len(items) > 0 && items[0].isText() {
			names[items[0].node.Value] = true
		}
	}
	return names
}
