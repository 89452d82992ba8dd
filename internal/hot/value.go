package hot

import (
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// answer is what is computed for a leaf: a value, or what to do so that there is one,
// or what is wrong.
type answer struct {
	value         any
	advice, wrong string
}

// compute gives the value of a leaf from the VNFD, the numbers of VNFCs, the networks
// and the assets.
func (b *builder) compute(l *leaf) answer {
	switch l.section() {
	case "VDU":
		return b.computeVDU(l)
	case "CP":
		return b.computeCP(l)
	default:
		return answer{}
	}
}

func (b *builder) computeVDU(l *leaf) answer {
	key, ok := demandKey(b.r.Flavour, l.name)
	if !ok {
		return answer{advice: "The VNFD has no VDU and no storage of that name."}
	}
	d := demandOf(b.r.Flavour, key)
	switch {
	case asksFlavor(l):
		return b.flavorOf(key, &d)
	case asksImage(l):
		return b.imageOf(l.name, key, &d)
	}
	if keys := l.keys(); len(keys) == 2 && textOf(keys[0]) == "flavor" && key.Storage == "" {
		return flavorPart(&d, textOf(keys[1]))
	}
	if asksZone(l) {
		return b.zoneOf(key, l.number)
	}
	switch l.key() {
	case capacity:
		return b.capacityOf(key)
	case "name":
		return b.nameOf(key, l.number)
	default:
		return answer{}
	}
}

// offline tells whether there are no assets of a VIM.
func (b *builder) offline() bool { return b.describes || b.r.Assets == nil }

func (b *builder) flavorOf(key DemandKey, d *Demand) answer {
	switch {
	case key.Storage != "":
		return answer{advice: "A storage has no flavor."}
	case b.offline():
		return answer{value: d.flavorText()}
	case b.r.Assets[key].FlavorID != "":
		return answer{value: b.r.Assets[key].FlavorID}
	default:
		return answer{}
	}
}

func (b *builder) imageOf(name string, key DemandKey, d *Demand) answer {
	switch {
	case d.Image == nil:
		return answer{advice: "The VNFD gives " + name + " no software image."}
	case b.offline():
		return answer{value: d.imageText()}
	case b.r.Assets[key].ImageID != "":
		return answer{value: b.r.Assets[key].ImageID}
	default:
		return answer{}
	}
}

func (b *builder) capacityOf(key DemandKey) answer {
	if b.describes {
		return answer{value: "as many as there are VNFCs"}
	}
	return answer{value: b.r.Counts[key.VDUID]}
}

// nameOf is the name of the servers of a VDU, or of the one with a number.
func (b *builder) nameOf(key DemandKey, number int) answer {
	if key.Storage != "" {
		return answer{}
	}
	name := b.r.Flavour.VDU(key.VDUID).Name
	if number >= 0 {
		name = numbered(name, number)
	}
	return answer{value: name}
}

// flavorPart is what a template that makes its own flavor asks for.
func flavorPart(d *Demand, part string) answer {
	switch part {
	case "vcpus":
		return answer{value: d.CPUs}
	case "ram":
		return answer{value: units(d.MemoryBytes, mib)}
	case "disk":
		return answer{value: units(d.StorageBytes, gib)}
	default:
		return answer{}
	}
}

// units counts the units that are needed for so many bytes.
func units(size, unit int64) int64 { return (size + unit - 1) / unit }

// connection is a connection point with the network of the VIM that it is connected to.
type connection struct {
	cp   vnfm.ConnectionPoint
	link Link
	ok   bool
}

// connectionOf finds the network of a connection point: its own, or that of its
// virtual link.
func (b *builder) connectionOf(id string) connection {
	c := connection{cp: vnfm.ConnectionPoint{ID: id}}
	for _, cp := range b.r.Flavour.ConnectionPoints {
		if cp.ID == id {
			c.cp = cp
		}
	}
	if c.link, c.ok = b.r.Links[id]; !c.ok && c.cp.VirtualLinkID != "" {
		c.link, c.ok = b.r.Links[c.cp.VirtualLinkID]
	}
	return c
}

func (b *builder) computeCP(l *leaf) answer {
	c := b.connectionOf(l.name)
	keys := l.keys()
	if number, ok := fixedIP(keys); ok {
		return b.partOfIP(&c, l, number, textOf(keys[2]))
	}
	switch l.key() {
	case "network":
		if b.s.Translated && c.link.PortID != "" {
			return answer{value: c.link.NetworkID}
		}
		return text(c.link.NetworkID, b.connecting(&c))
	case fixedIPs:
		return b.fixedIPs(&c, l)
	case "mac_address":
		return b.single(&c, c.link.MAC, "MAC address", text(c.link.MAC, external(&c, "Give "+l.name+" a MAC address in its external virtual link.")))
	case "port":
		a := text(c.link.PortID, external(&c, "Give "+l.name+" a port in its external virtual link."))
		if b.s.Translated {
			a.advice = ""
			a.value = c.link.PortID
		}
		return b.single(&c, c.link.PortID, "port", a)
	case valueSpecs:
		specs := map[string]any{}
		if c.link.MAC != "" {
			specs["mac_address"] = c.link.MAC
		}
		return b.single(&c, c.link.MAC, "MAC address", answer{value: specs})
	default:
		return answer{}
	}
}

// fixedIP is the number of the address that a leaf CP.<id>.fixed_ips.<number>.<part> asks for.
func fixedIP(keys []any) (number int, ok bool) {
	if len(keys) != 3 || textOf(keys[0]) != fixedIPs {
		return 0, false
	}
	n, ok := keys[1].(int64)
	return int(n), ok && n >= 0
}

// partOfIP is the subnet or the address of one of the addresses of a connection point.
func (b *builder) partOfIP(c *connection, l *leaf, number int, part string) answer {
	if number > 0 && number >= len(c.link.IPs) {
		return answer{advice: external(c, fmt.Sprintf("Give %s %d entries in ip_addresses of its external virtual link.", l.name, number+1))}
	}
	ip := c.link.at(number)
	switch part {
	case "subnet", "subnet_id":
		return text(ip.SubnetID, external(c, "Give "+l.name+" a subnet in ip_addresses of its external virtual link."))
	case "ip_address":
		address, wrong := b.address(c, number, l)
		if wrong != "" {
			return answer{wrong: wrong}
		}
		return text(address, external(c, "Give "+l.name+" a fixed address in ip_addresses of its external virtual link."))
	default:
		return answer{}
	}
}

// at is an address of each port; zero when there are fewer.
func (l *Link) at(number int) vnfm.IPAddress {
	if number >= len(l.IPs) {
		return vnfm.IPAddress{}
	}
	return l.IPs[number]
}

// external is advice that the arguments of external virtual links can follow; empty for a connection point that they cannot name.
func external(c *connection, advice string) string {
	if !c.cp.External {
		return ""
	}
	return advice
}

// connecting says by which argument a connection point gets a network; empty when only a parameter gives it one.
func (b *builder) connecting(c *connection) string {
	switch {
	case c.cp.External:
		return "Connect " + c.cp.ID + " by an external virtual link (ext_virtual_links)."
	case b.r.Flavour.VirtualLink(c.cp.VirtualLinkID) != nil:
		return "Give the virtual link " + c.cp.VirtualLinkID + " of " + c.cp.ID + " a network by ext_managed_virtual_links."
	default:
		return ""
	}
}

// The leaves of a connection point that a translated VNFD asks for besides Tacker's.
const (
	fixedIPs   = "fixed_ips"
	valueSpecs = "value_specs"
)

func text(v, advice string) answer {
	if v == "" {
		return answer{advice: advice}
	}
	return answer{value: v}
}

// single refuses what cannot be that of several VNFCs.
func (b *builder) single(c *connection, given, what string, a answer) answer {
	if count := b.r.Counts[c.cp.VDUID]; given != "" && count > 1 && !b.describes {
		return answer{wrong: fmt.Sprintf("%s is given one %s, but its VDU %s is to have %d VNFCs", c.cp.ID, what, c.cp.VDUID, count)}
	}
	return a
}

// address is one fixed address of a VNFC. Addresses belong to the numbers of VNFCs, so
// that none moves when another VNFC goes.
func (b *builder) address(c *connection, number int, l *leaf) (address, wrong string) {
	given := c.link.at(number).FixedAddresses
	switch count := b.r.Counts[c.cp.VDUID]; {
	case b.describes:
		return strings.Join(given, ", "), ""
	case len(given) == 0:
		return "", ""
	case l.number < 0 && count > 1:
		return "", fmt.Sprintf("the template gives all VNFCs of %s the same fixed address at %s, but there are to be %d", c.cp.VDUID, l.name, count)
	case l.number < 0:
		return given[0], ""
	case l.number >= len(given):
		return "", fmt.Sprintf("%s has %d fixed addresses (ip_addresses[%d]), but the VNFC %s has none of them", l.name, len(given), number, numbered(c.cp.VDUID, l.number))
	default:
		return given[l.number], ""
	}
}

// fixedIPs is the whole list; an empty one lets Neutron choose.
func (b *builder) fixedIPs(c *connection, l *leaf) answer {
	all := []any{}
	for i, ip := range c.link.IPs {
		address, wrong := b.address(c, i, l)
		if wrong != "" {
			return answer{wrong: wrong}
		}
		one := map[string]any{}
		if ip.SubnetID != "" {
			one["subnet"] = ip.SubnetID
		}
		if address != "" {
			one["ip_address"] = address
		}
		all = append(all, one)
	}
	return answer{value: all}
}
