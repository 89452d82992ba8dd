package instance

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
)

// The attributes of the argument heal that say what is replaced.
const (
	healVNFCs   = "vnfc_ids"
	healVDUs    = "vdu_ids"
	healStorage = "storage"
)

func healAttribute() schema.Attribute {
	return base.HealAttribute("Replaces VNFCs once for each new `trigger`: the named ones, all of the named VDUs, or, when none is named, applies everything again and then replaces all VNFCs. "+
		"It runs after a change of package, state or scale of the same apply. A new instance has nothing to be healed of: its first `trigger` is only noted. Objects that are gone or were changed are put right by any apply, without this.",
		map[string]schema.Attribute{
			healVNFCs: base.Names("Ids of the VNFCs to be replaced, as the data source `vnf_instance` shows them. All are replaced at the same time."),
			healVDUs:  base.Names("Ids of VDUs whose VNFCs are all replaced, as gently as the update strategy of the workload says."),
			healStorage: schema.BoolAttribute{
				MarkdownDescription: "`true` replaces the volumes that these VNFCs have to themselves as well, and their data is lost: on Kubernetes the claims that a StatefulSet makes for each pod, whose pods go one after the other then; on OpenStack the volumes in the nested template of the VDU. Without it volumes stay.",
				Optional:            true,
			},
		})
}
