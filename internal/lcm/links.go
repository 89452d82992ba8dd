package lcm

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The arguments that problems of networks are about.
const (
	attributeExternalLinks = "ext_virtual_links"
	attributeManagedLinks  = "ext_managed_virtual_links"
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
			*problems = append(*problems, vnfm.Problem{Attribute: attributeExternalLinks, Key: name, Summary: summary, Detail: detail})
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
	for _, id := range slices.Sorted(maps.Keys(links.Managed)) {
		if !slices.Contains(internal, id) {
			*problems = append(*problems, vnfm.Problem{
				Attribute: attributeManagedLinks, Key: id,
				Summary: "deployment flavour " + strconv.Quote(f.ID) + " has no virtual link " + strconv.Quote(id), Detail: "its virtual links are " + vnfm.QuotedNames(internal),
			})
		}
	}
}

func sameExternal(a, b vnfm.Links) bool {
	return len(a.External)+len(b.External) == 0 || reflect.DeepEqual(a.External, b.External)
}
