// Package instance holds the vnf_instance resource and the data sources that look
// at VNF instances and their LCM operations.
package instance

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ResourceType is the type name of the resource.
const ResourceType = "vnf_instance"

// NewResource returns the resource.
func NewResource() resource.Resource { return base.NewInstanceResource[model](config()) }

func config() base.Config {
	return base.Config{
		Type: ResourceType, Title: "VNF Instance", Noun: "VNF instance", VIMNoun: "VIM", VIMAttribute: "vim_id",
		CreateVerb: "Instantiate", RemoveVerb: "Terminate", IncompleteSummary: "Is Not Instantiated Yet",
		// Its name and its place may change.
		Identity:    base.Identity{{Name: "id", Description: "Id of the VNF instance."}},
		Fixed:       []string{"vim_id"},
		ContentPath: path.Root("package_id"),
		CreateLimit: 30 * time.Minute, ReadLimit: 2 * time.Minute, UpdateLimit: 30 * time.Minute, DeleteLimit: 15 * time.Minute,
		Schema:           resourceSchema,
		IDDescription:    "Id of the instance.",
		AdoptDescription: "Whether to adopt existing objects that belong to no instance: objects of Kubernetes, a Helm release, a Heat stack that `additional_params.heat_stack_name` names. If `false`, an existing object is an error; objects of another instance are never adopted. Defaults to `false`. Changing this applies to the next operation.",
		CompletedStatus:  string(vnfm.StatusInstantiated),
		Owns:             func(i *vnfm.Instance) bool { return i.Cluster == nil },
	}
}
