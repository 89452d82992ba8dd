package workloadcluster

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
)

func healAttribute() schema.Attribute {
	return base.HealAttribute("Replaces machines once for each new `trigger`: the named ones, or, when none is named, all of them, one after the other as the strategies of control plane and node groups say. "+
		"It runs after all else that the same apply does. A new cluster has nothing to be healed of: its first `trigger` is only noted. Machines whose node is lost are replaced by Cluster API itself, see `health_check`.",
		map[string]schema.Attribute{
			"machines": base.Names("Names of the Machines to be replaced, as the data source `vnf_capi_workload_cluster` shows them. Those of node groups go at the same time, those of the control plane one after the other; its only machine cannot be named. " +
				"Without it all machines are replaced that are older than the operation, but those of groups whose `rollout` has the type `OnDelete`; `rollout_after` must not be set then."),
		})
}
