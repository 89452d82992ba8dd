package workloadcluster

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Running implements base.Model: the machines of the control plane and of each node group.
func (m *model) Running() []string {
	var out []string
	note := func(name string, v any) {
		if status, ok := v.(types.Object); ok {
			if n, ok := status.Attributes()["replicas"].(types.Int64); ok && n.ValueInt64() > 0 {
				out = append(out, fmt.Sprintf("%s (machines: %d)", name, n.ValueInt64()))
			}
		}
	}
	note("control plane", m.ControlPlaneStatus)
	for name, status := range m.NodeGroupsStatus.Elements() {
		note("node group "+name, status)
	}
	return out
}
