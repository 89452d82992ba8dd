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

// chartCredentials are the credentials for downloading the chart of the template.
const chartCredentials = "chart_credentials" //nolint:gosec // a name

// definitionPath is the path of the template's definition.
var definitionPath = path.Root("cluster_template").AtName("definition")

// clusterTemplateAttribute is the form for templates in the style of Magnum.
func clusterTemplateAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Template of the cluster, in the style of Magnum, with arguments of this cluster. Version, flavors and machine counts default to the values of the template, then to one machine of the control plane and one node in the group `" + magnum.DefaultGroup + "`. " +
			"Changing anything here upgrades in place, also when the template changes; see the guide [Coming from OpenStack Magnum](../guides/magnum.md).",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"definition": schema.StringAttribute{
				MarkdownDescription: "Definition of the template: `vnf_capi_cluster_template.<name>.definition`. Changing this upgrades in place.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"keypair":                 tfutil.OptionalText("Name of the SSH key pair. Defaults to the key pair of the template. Changing this replaces the machines one after the other."),
			"fixed_network":           tfutil.OptionalText("Network of the machines, by id or name. Defaults to the network of the template. Changing this is rejected by Cluster API Provider OpenStack."),
			"fixed_subnet":            tfutil.OptionalText("Subnet of the machines, by id or name. Defaults to the subnet of the template. Changing this is rejected by Cluster API Provider OpenStack."),
			"credentials_secret_name": tfutil.OptionalText("Name of the Secret in the namespace of the cluster with `clouds.yaml` and, if the cloud needs it, `cacert`. Defaults to `<name of the cluster>-cloud-credentials`. Changing this updates in place; machines whose template refers to the Secret are replaced."),
			"labels":                  textMap("Labels of Magnum, which override those of the template. Changing this updates in place; labels about machines replace them one after the other."),
			chartCredentials: schema.SingleNestedAttribute{
				MarkdownDescription: "Credentials for the repository or registry of the chart of the template. They belong to the cluster because the definition of the template is in plan and state. Changing anything here takes effect with the next download.",
				Optional:            true,
				Attributes:          chartsource.Login(),
			},
		},
	}
}

// clusterTemplateModel is the argument cluster_template.
type clusterTemplateModel struct {
	Definition            types.String `tfsdk:"definition"`
	Keypair               types.String `tfsdk:"keypair"`
	FixedNetwork          types.String `tfsdk:"fixed_network"`
	FixedSubnet           types.String `tfsdk:"fixed_subnet"`
	CredentialsSecretName types.String `tfsdk:"credentials_secret_name"`
	Labels                types.Map    `tfsdk:"labels"`
	ChartCredentials      types.Object `tfsdk:"chart_credentials"`
}

// choices are the arguments that override the template.
func (m *clusterTemplateModel) choices() magnum.Choices {
	return magnum.Choices{
		Keypair: m.Keypair.ValueString(), FixedNetwork: m.FixedNetwork.ValueString(), FixedSubnet: m.FixedSubnet.ValueString(),
		CredentialsSecret: m.CredentialsSecretName.ValueString(), Labels: tfutil.Texts(m.Labels),
	}
}

// templateOf parses the template of a cluster; nil if it is absent or unknown.
func (m *model) templateOf(ctx context.Context, diags *diag.Diagnostics) *magnum.Template {
	o := tfutil.As[clusterTemplateModel](ctx, m.ClusterTemplate, diags)
	if o == nil || o.Definition.IsUnknown() {
		return nil
	}
	template, err := magnum.Parse(o.Definition.ValueString())
	if err != nil {
		diags.AddAttributeError(definitionPath, "Invalid Definition of a Cluster Template",
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
	if tfutil.Set(o.ChartCredentials) && !cluster.Chart.Fetched() {
		diags.AddAttributeError(definitionPath.ParentPath(), "Argument Does Not Apply",
			fmt.Sprintf("%s are only for a chart from a repository or registry, and that of the template is %s. Remove them.", chartCredentials, &cluster.Chart.ChartSource))
	}
	diags.Append(tfutil.Problems(problems, path.Empty())...)
}

// version returns the Kubernetes version of the arguments or of the template, with its
// path; empty if it is absent, unknown or unreadable.
func (m *model) version(ctx context.Context) (string, path.Path) {
	if tfutil.Set(m.KubernetesVersion) {
		return m.KubernetesVersion.Number(), path.Root("kubernetes_version")
	}
	if template := m.templateOf(ctx, &diag.Diagnostics{}); template != nil {
		return template.Version(), definitionPath
	}
	return "", path.Empty()
}
