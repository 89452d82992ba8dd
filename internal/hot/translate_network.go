package hot

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vnicTypes are the types of network cards as SOL001 and Neutron call them.
var vnicTypes = map[string]string{
	"normal": "normal", "virtio": "normal", "direct": "direct", "macvtap": "macvtap", "baremetal": "baremetal",
	"direct-physical": "direct-physical", "virtio-forwarder": "virtio-forwarder", "smart-nic": "smart-nic",
}

// ports makes the ports of a VDU, in the order of its network cards. A port that the
// request gives takes the place of a new one. It returns what must be there before.
func (tr *translation) ports(u *unit, v *vnfm.VDU, server map[string]any) (needs []string) {
	var cards []any
	for _, cp := range cardsOf(tr.f, v.ID) {
		port := map[string]any{
			"network":  u.parameter("network-"+cp.ID, "string", tr.network(&cp)),
			fixedIPs:   u.parameter(fixedIPs+"-"+cp.ID, "json", ask("CP", cp.ID, fixedIPs)),
			valueSpecs: u.parameter(valueSpecs+"-"+cp.ID, "json", ask("CP", cp.ID, valueSpecs)),
		}
		if guards := tr.guards[cp.ID]; len(guards) > 0 {
			list := []any{}
			for _, name := range guards {
				list = append(list, u.parameter("security_group-"+name, "string", map[string]any{fnResource: name}))
			}
			port["security_groups"] = list
		}
		if cp.VNICType != "" {
			typ, ok := vnicTypes[cp.VNICType]
			if !ok {
				errorAt(&tr.problems, v.Place, "the connection point %s has the vnic_type %q; Neutron knows %s", cp.ID, cp.VNICType, strings.Join(sorted(vnicTypes), ", "))
			}
			port["binding:vnic_type"] = typ
		}
		given := u.parameter("port-"+cp.ID, "string", ask("CP", cp.ID, "port"))
		fresh := "new-" + cp.ID
		u.conditions[fresh] = map[string]any{"equals": []any{given, ""}}
		u.resources[cp.ID] = map[string]any{"type": "OS::Neutron::Port", "condition": fresh, "properties": port}
		cards = append(cards, map[string]any{"port": map[string]any{"if": []any{fresh, map[string]any{fnResource: cp.ID}, given}}})
		for _, subnet := range tr.subnets[cp.VirtualLinkID] {
			if !slices.Contains(needs, subnet) {
				needs = append(needs, subnet)
			}
		}
	}
	if len(cards) > 0 {
		server["networks"] = cards
	}
	return needs
}

// cardsOf lists the connection points of a VDU in the order of its network cards.
func cardsOf(f *vnfm.Flavour, vdu string) []vnfm.ConnectionPoint {
	var list []vnfm.ConnectionPoint
	for _, cp := range f.ConnectionPoints {
		if cp.VDUID == vdu {
			list = append(list, cp)
		}
	}
	slices.SortStableFunc(list, func(a, b vnfm.ConnectionPoint) int { return cmp.Compare(a.Order, b.Order) })
	return list
}

// network is that of a connection point: of its virtual link, or what the request gives.
func (tr *translation) network(cp *vnfm.ConnectionPoint) any {
	vl := tr.f.VirtualLink(cp.VirtualLinkID)
	switch {
	case vl == nil:
		return ask("CP", cp.ID, "network")
	case vl.NetworkName != "":
		return vl.NetworkName
	default:
		return map[string]any{fnResource: vl.ID}
	}
}

// networks makes a network of each internal virtual link, with its subnets. Without a
// gateway in the VNFD there is none: nothing leads out of an internal network, and a
// default route into it would take that of another network card.
func (tr *translation) networks() {
	tr.subnets = map[string][]string{}
	for i := range tr.f.VirtualLinks {
		vl := &tr.f.VirtualLinks[i]
		if vl.NetworkName != "" {
			continue
		}
		at := vnfm.Place{File: tr.file()}
		network := map[string]any{}
		if vl.MTU > 0 {
			network[valueSpecs] = map[string]any{"mtu": vl.MTU}
		}
		tr.add(vl.ID, "OS::Neutron::Net", network, at)
		for n := range vl.Subnets {
			name := vl.ID + "_subnet"
			if n > 0 {
				name = numbered(name, n)
			}
			tr.subnets[vl.ID] = append(tr.subnets[vl.ID], name)
			tr.add(name, "OS::Neutron::Subnet", subnet(vl, &vl.Subnets[n]), at)
		}
	}
}

func subnet(vl *vnfm.VirtualLink, s *vnfm.Subnet) map[string]any {
	out := map[string]any{
		"network": map[string]any{fnResource: vl.ID}, "cidr": s.CIDR, "ip_version": 4, "gateway_ip": s.Gateway,
	}
	if s.IPv6 {
		out["ip_version"] = 6
	}
	if s.DHCP != nil {
		out["enable_dhcp"] = *s.DHCP
	}
	if s.IPv6Mode != "" {
		out["ipv6_address_mode"], out["ipv6_ra_mode"] = s.IPv6Mode, s.IPv6Mode
	}
	var pools []any
	for _, pool := range s.Pools {
		pools = append(pools, map[string]any{"start": pool.Start, "end": pool.End})
	}
	if len(pools) > 0 {
		out["allocation_pools"] = pools
	}
	return out
}

// withPorts are the protocols that have ports.
var withPorts = []string{"tcp", "udp", "sctp", "dccp", "udplite"}

// protocols are those that Neutron calls otherwise than SOL001.
var protocols = map[string]string{"udp_lite": "udplite", "ospfigp": "ospf", "ipv6_no_nxt": "ipv6-nonxt"}

// securityGroups makes a security group of each SecurityGroupRule policy. A port with
// several lets pass what one of them lets pass.
func (tr *translation) securityGroups() {
	tr.guards = map[string][]string{}
	for _, rule := range tr.f.SecurityGroupRules {
		one := map[string]any{"direction": "ingress", "ethertype": "IPv4", "protocol": protocol(rule.Protocol)}
		if rule.Egress {
			one["direction"] = "egress"
		}
		if rule.IPv6 {
			one["ethertype"] = "IPv6"
		}
		// Neutron has no port 0.
		if all := rule.PortMin <= 1 && rule.PortMax == 65535; !all && slices.Contains(withPorts, protocol(rule.Protocol)) {
			one["port_range_min"], one["port_range_max"] = max(rule.PortMin, 1), max(rule.PortMax, 1)
		}
		properties := map[string]any{"rules": []any{one}}
		if rule.Description != "" {
			properties["description"] = rule.Description
		}
		tr.add(rule.ID, "OS::Neutron::SecurityGroup", properties, rule.Place)
		for _, cp := range rule.Targets {
			if !slices.ContainsFunc(tr.f.ConnectionPoints, func(c vnfm.ConnectionPoint) bool { return c.ID == cp && c.VDUID != "" }) {
				tr.problems.Warnf(rule.Place.File, rule.Place.Line, rule.Place.Column, "the policy %s targets %s, which is not a connection point of a VDU; it has no effect there", rule.ID, cp)
				continue
			}
			tr.guards[cp] = append(tr.guards[cp], rule.ID)
		}
	}
}

func protocol(name string) string {
	if known, ok := protocols[name]; ok {
		return known
	}
	return strings.ReplaceAll(name, "_", "-")
}

// serverGroups makes server groups of the rules of placement on hosts. A rule about a
// VDU is one among its own VNFCs, a rule about a placement group one among those of all
// its members. A server can be in one server group.
func (tr *translation) serverGroups() {
	tr.groups = map[string]string{}
	for i := range tr.f.AffinityRules {
		rule := &tr.f.AffinityRules[i]
		warn := func(format string, args ...any) {
			tr.problems.Warnf(rule.Place.File, rule.Place.Line, rule.Place.Column, format, args...)
		}
		if rule.Scope != "nfvi_node" {
			warn("the policy %s has the scope %q, which OpenStack does not support; it can only place servers by their host (nfvi_node)", rule.ID, rule.Scope)
			continue
		}
		policy := "affinity"
		if rule.Anti {
			policy = "anti-affinity"
		}
		for _, target := range rule.Targets {
			members, ok := rule.Groups[target]
			if !ok {
				members = []string{target}
			}
			name := rule.ID
			if len(rule.Targets) > 1 {
				name += "-" + target
			}
			var placed []string
			for _, id := range members {
				switch other := tr.groups[id]; {
				case tr.f.VDU(id) == nil:
				case other != "":
					//findings:says keep the VDU in one affinity or anti-affinity policy: a server is in one server group
					warn("the policy %s has no effect on the VDU %s, which is in the server group %s already", rule.ID, id, other)
				default:
					placed = append(placed, id)
					tr.groups[id] = name
				}
			}
			if len(placed) > 0 {
				tr.add(name, "OS::Nova::ServerGroup", map[string]any{"name": name, "policies": []any{policy}}, rule.Place)
			}
		}
	}
}

// inPackage is the file that holds boot data, beside the VNFD or from the root of the
// package on; empty when there is none.
func (tr *translation) inPackage(data *vnfm.BootData) string {
	name := cmp.Or(data.File, data.Content)
	if tr.p.Content == nil || strings.ContainsAny(name, "\n#") {
		return ""
	}
	for _, file := range []string{path.Join(path.Dir(data.Place.File), name), path.Clean(name)} {
		if info, err := fs.Stat(tr.p.Content, file); fs.ValidPath(file) && err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}
