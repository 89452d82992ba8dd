package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListResource returns the list resource vnf_instance.
func NewListResource() list.ListResource {
	c := config()
	return &base.ListResource[vnfm.Instance]{
		Type: ResourceType, Identity: c.Identity,
		Description: "Lists the VNF instances of the store that match all given filters, and with `vim_id` those that only the VIM knows, such as those of a store that was lost. Generated configuration has the arguments of the instance, without its secrets.",
		Title:       "VNF Instances",
		Filters: map[string]schema.Attribute{
			"vim_id":     base.ListFilter("Only instances on this VIM. It is needed to list instances that the store does not know."),
			"namespace":  base.ListFilter("Only instances in this namespace. Defaults to all namespaces; instances that the store does not know are looked for in the default namespace of the VIM alone if the account may not list Secrets elsewhere."),
			"package_id": base.ListFilter("Only instances that run this package."),
			"name":       base.ListFilter("Only instances of this name."),
		},
		Find:    findListed,
		Values:  func(i *vnfm.Instance) []string { return []string{i.ID} },
		Display: func(i *vnfm.Instance) string { return i.Name },
		Fill:    base.FillListed[model](c),
	}
}

// findListed finds the instances of the store, and after them those that only the VIM knows. A VIM that does not answer hides none of the
// others.
func findListed(ctx context.Context, manager vnfm.Manager, filter map[string]string, diags *diag.Diagnostics) ([]vnfm.Instance, error) {
	out, err := findInstances(ctx, manager, filter)
	if err != nil || filter["vim_id"] == "" {
		return out, err
	}
	more, err := manager.UnrecordedInstances(ctx, filter["vim_id"], filter["namespace"])
	if err != nil {
		diags.AddAttributeWarning(path.Root("vim_id"), "Instances Without a Record Are Not Listed", fmt.Sprintf("The VIM could not be asked: %s.", tfutil.ErrorDetail(err)))
		return out, nil
	}
	for i := range more {
		if one := &more[i]; (filter["name"] == "" || filter["name"] == one.Name) && (filter["package_id"] == "" || filter["package_id"] == one.PackageID) {
			out = append(out, *one)
		}
	}
	return out, nil
}
