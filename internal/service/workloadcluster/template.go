package workloadcluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// chartCredentials are the arguments of a cluster with which the chart of its template is
// fetched.
const chartCredentials = "chart_credentials" //nolint:gosec // a name

// definitionPath is where a cluster has the definition of its template.
var definitionPath = path.Root("cluster_template").AtName("definition")

// clusterTemplateAttribute is the form of a template of Magnum.
func clusterTemplateAttribute() schema.Attribute {
	optional := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
	}
	return schema.SingleNestedAttribute{
		MarkdownDescription: "The cluster as `vnf_capi_cluster_template` describes it, and what is its own. Version, flavours and the number of machines that the cluster leaves out are those of the template; " +
			"one machine of the control plane and, without `node_groups`, the node group `" + magnum.DefaultGroup + "` with one node where that says none either. A template that changes upgrades the cluster in place.",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"definition": schema.StringAttribute{
				MarkdownDescription: "The template: `vnf_capi_cluster_template.<name>.definition`.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"keypair":            optional("Name of the SSH key pair, over that of the template."),
			"fixed_network":      optional("Network of the machines, by id or name, over that of the template."),
			"fixed_subnet":       optional("Subnet of the machines, by id or name, over that of the template."),
			"credentials_secret": optional("Secret in the cluster's namespace with `clouds.yaml` and, if the cloud needs it, `cacert`. Default is `<name of the cluster>-cloud-credentials`."),
			"labels":             textMap("Labels of Magnum, over those of the template."),
			chartCredentials: schema.SingleNestedAttribute{
				MarkdownDescription: "Who asks the repository or registry of the template's chart, where it asks for that. They are the cluster's and not the template's, whose definition is in plan and state.",
				Optional:            true,
				Attributes:          chartsource.Login(),
			},
		},
	}
}

// clusterTemplateModel is the argument cluster_template.
type clusterTemplateModel struct {
	Definition        types.String `tfsdk:"definition"`
	Keypair           types.String `tfsdk:"keypair"`
	FixedNetwork      types.String `tfsdk:"fixed_network"`
	FixedSubnet       types.String `tfsdk:"fixed_subnet"`
	CredentialsSecret types.String `tfsdk:"credentials_secret"`
	Labels            types.Map    `tfsdk:"labels"`
	ChartCredentials  types.Object `tfsdk:"chart_credentials"`
}

// choices are the arguments that override the template.
func (m *clusterTemplateModel) choices() magnum.Choices {
	return magnum.Choices{
		Keypair: m.Keypair.ValueString(), FixedNetwork: m.FixedNetwork.ValueString(), FixedSubnet: m.FixedSubnet.ValueString(),
		CredentialsSecret: m.CredentialsSecret.ValueString(), Labels: tfutil.Texts(m.Labels),
	}
}

// templateOf parses the template of a cluster; nil when there is none, or it is not known.
func (m *model) templateOf(ctx context.Context, diags *diag.Diagnostics) *magnum.Template {
	o := tfutil.As[clusterTemplateModel](ctx, m.ClusterTemplate, diags)
	if o == nil || o.Definition.IsUnknown() {
		return nil
	}
	template, err := magnum.Parse(o.Definition.ValueString())
	if err != nil {
		diags.AddAttributeError(definitionPath, "Not the Definition of a Cluster Template",
			fmt.Sprintf("It cannot be read: %s. Write definition = vnf_capi_cluster_template.<name>.definition.", err))
		return nil
	}
	return template
}

// fromTemplate completes the specification of a cluster that has a template.
func (m *model) fromTemplate(ctx context.Context, cluster *vnfm.ClusterSpec, diags *diag.Diagnostics) {
	template := m.templateOf(ctx, diags)
	if template == nil {
		return
	}
	o := tfutil.As[clusterTemplateModel](ctx, m.ClusterTemplate, diags)
	var problems vnfm.Problems
	// A definition need not be that of a resource, which has been checked.
	template.Check(&problems)
	for i := range problems {
		problems[i].Attribute, problems[i].Key = definitionPath.String(), ""
	}
	template.Complete(cluster, o.choices(), &problems)
	// A range of versions is resolved for each cluster.
	cluster.Chart.Chart = tfutil.As[chartStatusModel](ctx, m.ChartStatus, diags).toDomain()
	if !o.ChartCredentials.IsNull() && !cluster.Chart.Fetched() {
		diags.AddAttributeError(definitionPath.ParentPath(), "Not for This Source",
			fmt.Sprintf("%s are for a chart from a repository or registry, and that of the template is %s. Leave them out.", chartCredentials, &cluster.Chart.ChartSource))
	}
	diags.Append(tfutil.Problems(problems, path.Empty())...)
}

// version is the version of Kubernetes that the arguments say, themselves or through
// the template, and where; empty when they say none that is known or can be read.
func (m *model) version(ctx context.Context) (string, path.Path) {
	if tfutil.Set(m.KubernetesVersion) {
		return m.KubernetesVersion.ValueString(), path.Root("kubernetes_version")
	}
	if template := m.templateOf(ctx, &diag.Diagnostics{}); template != nil {
		return template.Version(), definitionPath
	}
	return "", path.Empty()
}
