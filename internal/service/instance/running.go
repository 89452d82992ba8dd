package instance

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Running implements base.Model: the VNFCs of each VDU.
func (m *model) Running() []string {
	var out []string
	for id, v := range m.VDUs.Elements() {
		vdu, ok := v.(types.Object)
		if !ok {
			continue
		}
		kind, _ := vdu.Attributes()["kind"].(types.String)
		replicas, _ := vdu.Attributes()["replicas"].(types.Int64)
		switch {
		case kind.IsNull() || replicas.ValueInt64() == 0 && !replicas.IsNull():
		case replicas.IsNull():
			out = append(out, id)
		default:
			out = append(out, fmt.Sprintf("%s (%d)", id, replicas.ValueInt64()))
		}
	}
	return out
}
