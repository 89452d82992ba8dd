package acctest

import (
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Objects are the objects that the record of an instance says to exist, as the package writes them, sorted. What hooks have made, a
// namespace that was made for the instance, and the release of a chart, which belongs to Helm, are not among them.
func Objects(i *vnfm.Instance) []string {
	var out []string
	for n := range i.Inventory {
		item := &i.Inventory[n]
		if item.Kind == "" || item.Key == "" || item.Hook || item.Posted != "" {
			continue
		}
		key := item.Key
		if item.Connection != "" {
			key = item.Connection + ": " + key
		}
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
