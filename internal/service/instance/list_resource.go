package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListResource returns the list resource vnf_instance.
func NewListResource() list.ListResource {
	c := config()
	return &base.ListResource[vnfm.Instance]{
		Type: ResourceType, Identity: c.Identity,
		Description: "Lists the VNF instances of the store that match all given filters. Generated configuration has the arguments of the instance, without its secrets.",
		Title:       "VNF Instances",
		Filters: map[string]schema.Attribute{
			"vim_id":     base.ListFilter("Only instances on this VIM."),
			"namespace":  base.ListFilter("Only instances in this namespace."),
			"package_id": base.ListFilter("Only instances that run this package."),
			"name":       base.ListFilter("Only instances of this name."),
		},
		Find: func(ctx context.Context, manager vnfm.Manager, filter map[string]string, _ *diag.Diagnostics) ([]vnfm.Instance, error) {
			return findInstances(ctx, manager, filter)
		},
		Values:  func(i *vnfm.Instance) []string { return []string{i.ID} },
		Display: func(i *vnfm.Instance) string { return i.Name },
		Fill:    base.FillListed[model](c),
	}
}
