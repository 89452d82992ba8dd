package instance

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Running implements base.Model: the VNFCs of each VDU.
func (m *model) Running() []string {
	var out []string
	for id, v := range m.VNFCCounts.Elements() {
		count, _ := v.(types.Int64)
		switch {
		case count.IsNull():
			out = append(out, id)
		case count.ValueInt64() > 0:
			out = append(out, fmt.Sprintf("%s (%d)", id, count.ValueInt64()))
		}
	}
	return out
}
