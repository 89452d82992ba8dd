package workloadcluster

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// NewListDataSource returns the data source vnf_capi_workload_clusters.
func NewListDataSource() datasource.DataSource {
	return &base.List[vnfm.Instance, listedModel]{
		DataSource: base.DataSource{Type: "vnf_capi_workload_clusters"},
		Description: "Lists the workload clusters of the store that match all given filters, which are those that configurations with this store manage. " +
			"It reads records only: the data source `vnf_capi_workload_cluster` shows what a management cluster says of one cluster.",
		Title: "Workload Clusters",
		Filters: map[string]schema.StringAttribute{
			"management_vim_id": base.Filter("Only clusters whose management cluster is the `vnf_vim` of this id."),
			"namespace":         base.Filter("Only clusters in this namespace of their management cluster."),
			"name":              base.Filter("Only clusters of this name."),
		},
		Name: "workload_clusters", NameDescription: "Workload clusters in the order of their creation.",
		Elements: listedAttributes,
		Find:     findClusters,
		Element: func(_ context.Context, _ vnfm.Manager, i *vnfm.Instance, _ *diag.Diagnostics) listedModel {
			return listedOf(i)
		},
	}
}

func findClusters(ctx context.Context, manager vnfm.Manager, filter map[string]string) ([]vnfm.Instance, error) {
	management := filter["management_vim_id"]
	found, err := manager.Instances(ctx, vnfm.InstanceFilter{
		Kind: vnfm.WorkloadCluster, VIMID: management, Namespace: filter["namespace"], Name: filter["name"],
	})
	// The filter also selects clusters that only have their machines in the VIM.
	return slices.DeleteFunc(found, func(i vnfm.Instance) bool { return management != "" && i.VIMID != management }), err
}

// listedModel is a workload cluster as its record shows it.
type listedModel struct {
	ID                types.String `tfsdk:"id"`
	ManagementVIMID   types.String `tfsdk:"management_vim_id"`
	Namespace         types.String `tfsdk:"namespace"`
	Name              types.String `tfsdk:"name"`
	KubernetesVersion types.String `tfsdk:"kubernetes_version"`
	APIVersion        types.String `tfsdk:"api_version"`
	Paused            types.Bool   `tfsdk:"paused"`
	Status            types.String `tfsdk:"status"`
	Generation        types.Int64  `tfsdk:"generation"`
}

func listedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"id":                 text("Id of the cluster in the store."),
		"management_vim_id":  text("Id of the `vnf_vim` that is the management cluster."),
		"namespace":          text("Namespace of the cluster on the management cluster."),
		"name":               text("Name of the cluster."),
		"kubernetes_version": text("Desired Kubernetes version, for example `1.34.0`. Null if the template of the cluster fixes its own version."),
		"api_version":        text("API version of the Cluster API objects, `v1beta1` or `v1beta2`."),
		"paused":             schema.BoolAttribute{MarkdownDescription: "Whether Cluster API ignores the cluster.", Computed: true},
		"status":             text("`READY` if the last operation completed, `FAILED_TEMP` if it stopped half-way, `PROCESSING` while it runs or after its process was killed."),
		"generation":         schema.Int64Attribute{MarkdownDescription: "Counter that increases with every change, for resources that depend on it.", Computed: true},
	}
}

// listedOf reads the record of a workload cluster.
func listedOf(i *vnfm.Instance) listedModel {
	return listedModel{
		ID: types.StringValue(i.ID), ManagementVIMID: types.StringValue(i.VIMID),
		Namespace: types.StringValue(i.Namespace), Name: types.StringValue(i.Name),
		KubernetesVersion: tfutil.Version(i.Cluster.KubernetesVersion),
		APIVersion:        tfutil.OptionalString(i.Cluster.APIVersion), Paused: types.BoolValue(i.Cluster.IsPaused()),
		Status: types.StringValue(base.Status(i)), Generation: types.Int64Value(i.Generation),
	}
}
