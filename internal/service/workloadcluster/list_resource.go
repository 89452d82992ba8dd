package workloadcluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// listed is a cluster of a list: its place, and its record if the store has one.
type listed struct {
	vnfm.ClusterRef
	record *vnfm.Instance
}

// NewListResource returns the list resource vnf_capi_workload_cluster.
func NewListResource() list.ListResource {
	c := config()
	fill := base.FillListed[model](c)
	return &base.ListResource[listed]{
		Type: ResourceType, Identity: c.Identity,
		Description: "Lists the workload clusters of the store, and the Cluster API clusters on the management cluster of `management_vim_id`, whoever made them, those of OpenStack Magnum included. " +
			"Generated configuration of a cluster of the store has its arguments, without secrets. For another cluster it has its place and version: add `topology`, `chart`, `clusterctl_template` or `cluster_template`, and its node groups.",
		Title: "Workload Clusters",
		Filters: map[string]schema.Attribute{
			managementVIM: base.ListFilter("Only clusters whose management cluster is the `vnf_vim` of this id. It is needed to list clusters that the store does not know."),
			"namespace":   base.ListFilter("Only clusters in this namespace of their management cluster."),
			"name":        base.ListFilter("Only clusters of this name."),
		},
		Find:    findListed,
		Values:  func(f *listed) []string { return []string{f.VIMID, f.Namespace, f.Name} },
		Display: func(f *listed) string { return f.Namespace + "/" + f.Name },
		Fill: func(ctx context.Context, data *tfutil.ProviderData, f *listed, state *tfsdk.State, diags *diag.Diagnostics) {
			if f.record != nil {
				fill(ctx, data, f.record, state, diags)
				return
			}
			if err := base.FillAdopted[model](ctx, data, f.VIMID, f.Namespace, f.Name, state, diags); err != nil {
				tfutil.AddError(diags, "Read", titled(f.Name), err, path.Empty())
			}
		},
	}
}

// findListed finds the clusters of the store, and after them those that only a management cluster knows. One that does not answer hides
// none of the others.
func findListed(ctx context.Context, manager vnfm.Manager, filter map[string]string, diags *diag.Diagnostics) ([]listed, error) {
	records, err := findClusters(ctx, manager, filter)
	if err != nil {
		return nil, err
	}
	var out []listed
	known := map[vnfm.ClusterRef]bool{}
	for i := range records {
		ref := vnfm.ClusterRef{VIMID: records[i].VIMID, Namespace: records[i].Namespace, Name: records[i].Name}
		known[ref] = true
		out = append(out, listed{ref, &records[i]})
	}
	management := filter[managementVIM]
	if management == "" {
		return out, nil
	}
	refs, err := manager.WorkloadClusters(ctx, management, filter["namespace"])
	if err != nil {
		diags.AddAttributeWarning(path.Root(managementVIM), "Clusters Without a Record Are Not Listed",
			fmt.Sprintf("The management cluster could not be asked: %s.", tfutil.ErrorDetail(err)))
		return out, nil
	}
	for _, ref := range refs {
		if !known[ref] && (filter["name"] == "" || filter["name"] == ref.Name) {
			out = append(out, listed{ClusterRef: ref})
		}
	}
	return out, nil
}
