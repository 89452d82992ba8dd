package lcm

import (
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func quote(s string) string { return strconv.Quote(s) }

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
