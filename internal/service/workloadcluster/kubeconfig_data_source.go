package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

var _ datasource.DataSourceWithConfigure = (*KubeconfigDataSource)(nil)

// KubeconfigDataSource is the data source vnf_capi_workload_kubeconfig.
type KubeconfigDataSource struct{ base.DataSource }

// NewKubeconfigDataSource returns the data source.
func NewKubeconfigDataSource() datasource.DataSource {
	return &KubeconfigDataSource{base.DataSource{Type: KubeconfigType}}
}

// Schema implements datasource.DataSource.
func (d *KubeconfigDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for name, a := range kubeconfigAttributes() {
		attributes[name] = a
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the kubeconfig of a workload cluster from the management cluster at each refresh. Its values are null while there is no kubeconfig. It grants full rights on the cluster, and **its values are in the state**: with Terraform 1.10 or later use the ephemeral resource of the same name, and for `vnf_vim` its argument `kubernetes.kubeconfig_ref`.",
		Attributes:          attributes,
	}
}

// Read implements datasource.DataSource.
func (d *KubeconfigDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config kubeconfigModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if config.read(ctx, manager, nil, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &config)...)
}
