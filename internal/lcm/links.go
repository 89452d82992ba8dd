package lcm

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkLinks finds connection points and virtual links that the flavour does not have.
func checkLinks(f *vnfm.Flavour, links vnfm.Links, problems *vnfm.Problems) {
	var points, internal []string
	for _, cp := range f.ConnectionPoints {
		if cp.External {
			points = append(points, cp.ID)
		}
	}
	for _, vl := range f.VirtualLinks {
		internal = append(internal, vl.ID)
	}
	connected := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(links.External)) {
		refuse := func(summary, detail string) {
			*problems = append(*problems, vnfm.Problem{Attribute: vnfm.AttributeExternalLinks, Key: name, Summary: summary, Detail: detail})
		}
		for _, cp := range slices.Sorted(maps.Keys(links.External[name].ExtCPs)) {
			if !slices.Contains(points, cp) {
				refuse("deployment flavour "+strconv.Quote(f.ID)+" has no external connection point "+strconv.Quote(cp), "its external connection points are "+vnfm.QuotedNames(points))
			}
			if other, twice := connected[cp]; twice {
				refuse("connection point "+strconv.Quote(cp)+" is connected twice", "external virtual link "+strconv.Quote(other)+" has it too")
			}
			connected[cp] = name
		}
	}
	checkAddresses(f, links.External, problems)
	for _, id := range slices.Sorted(maps.Keys(links.Managed)) {
		if !slices.Contains(internal, id) {
			*problems = append(*problems, vnfm.Problem{
				Attribute: vnfm.AttributeManagedLinks, Key: id,
				Summary: "deployment flavour " + strconv.Quote(f.ID) + " has no virtual link " + strconv.Quote(id), Detail: "its virtual links are " + vnfm.QuotedNames(internal),
			})
		}
	}
}

// checkAddresses finds fixed addresses that two connection points have in one network, and warns of
// families that the VNFD's connection points do not have.
func checkAddresses(f *vnfm.Flavour, links map[string]vnfm.ExtVirtualLink, problems *vnfm.Problems) {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		link := links[name]
		for i := range f.ConnectionPoints {
			cp := &f.ConnectionPoints[i]
			have := slices.DeleteFunc(slices.Clone(cp.Protocols), func(p string) bool { return p != "ipv4" && p != "ipv6" })
			for _, address := range addressesOf(link.ExtCPs[cp.ID]) {
				at := link.ResourceID + " " + address.String()
				if other, twice := taken[at]; twice && other != cp.ID {
					*problems = append(*problems, vnfm.Problem{
						Attribute: vnfm.AttributeExternalLinks, Key: name,
						Summary: "address " + address.String() + " is given to connection points " + strconv.Quote(other) + " and " + strconv.Quote(cp.ID),
						Detail:  "both are in network " + strconv.Quote(link.ResourceID) + "; give each of them addresses of its own",
					})
				}
				taken[at] = cp.ID
				family := "ipv6"
				if address.Is4() {
					family = "ipv4"
				}
				if len(have) > 0 && !slices.Contains(have, family) {
					have = append(have, family)
					*problems = append(*problems, vnfm.Problem{
						Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeExternalLinks, Key: name,
						Summary: "connection point " + strconv.Quote(cp.ID) + " is given address " + address.String() + ", and the VNFD does not list " + family + " among its layer_protocols",
						Detail:  "they are " + vnfm.QuotedNames(cp.Protocols),
					})
				}
			}
		}
	}
}

// addressesOf are the fixed addresses of a connection point; an IPv4 address in the form of an IPv6 one is that IPv4 address.
func addressesOf(cp vnfm.ExtCP) (out []netip.Addr) {
	for _, ip := range cp.IPAddresses {
		for _, text := range ip.FixedAddresses {
			if address, err := netip.ParseAddr(text); err == nil {
				out = append(out, address.Unmap())
			}
		}
	}
	return out
}
