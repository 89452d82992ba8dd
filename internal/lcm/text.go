package lcm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func quote(s string) string { return strconv.Quote(s) }

// listOf renders names for a message: sorted, quoted, "none" when empty.
func listOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, n := range sorted {
		sorted[i] = quote(n)
	}
	return strings.Join(sorted, ", ")
}

func levelIDs(f *vnfm.Flavour) []string {
	ids := make([]string, 0, len(f.Levels))
	for _, l := range f.Levels {
		ids = append(ids, l.ID)
	}
	return ids
}

func vduIDs(f *vnfm.Flavour) []string {
	ids := make([]string, 0, len(f.VDUs))
	for i := range f.VDUs {
		ids = append(ids, f.VDUs[i].ID)
	}
	return ids
}
