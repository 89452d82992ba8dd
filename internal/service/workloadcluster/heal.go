package workloadcluster

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
)

func healAttribute() schema.Attribute {
	return base.HealAttribute("Replaces the machines of `machine_names`, or all machines one after the other, once per `trigger`, at the end of the apply. On create the trigger is recorded and nothing is healed. Changing this without a new `trigger` has no effect.",
		map[string]schema.Attribute{
			"machine_names": base.Names("Names of the Machines to replace, as the data source `vnf_capi_workload_cluster` shows them. Defaults to all machines that are older than the operation, see [Changes](../guides/workload-clusters.md#changes). Changing this applies to the next `trigger`."),
		})
}
