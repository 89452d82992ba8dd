package clustertemplate

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// model is the resource as Terraform has it.
type model struct {
	ID         types.String `tfsdk:"id"`
	Definition types.String `tfsdk:"definition"`

	Name               types.String  `tfsdk:"name"`
	Image              types.Object  `tfsdk:"image"`
	KubernetesVersion  attrs.Version `tfsdk:"kubernetes_version"`
	Chart              types.Object  `tfsdk:"chart"`
	ControlPlaneFlavor types.String  `tfsdk:"control_plane_flavor"`
	NodeFlavor         types.String  `tfsdk:"node_flavor"`
	Keypair            types.String  `tfsdk:"keypair"`
	ExternalNetwork    types.String  `tfsdk:"external_network"`
	FixedNetwork       types.String  `tfsdk:"fixed_network"`
	FixedSubnet        types.String  `tfsdk:"fixed_subnet"`
	DNSNameservers     types.List    `tfsdk:"dns_nameservers"`
	NetworkDriver      types.String  `tfsdk:"network_driver"`
	VolumeTypes        types.List    `tfsdk:"volume_types"`
	Keystone           types.Object  `tfsdk:"keystone"`
	Labels             types.Map     `tfsdk:"labels"`
}

// imageModel is the argument image.
type imageModel struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	KubeVersion types.String `tfsdk:"kube_version"`
	OSDistro    types.String `tfsdk:"os_distro"`
}

// keystoneModel is the argument keystone.
type keystoneModel struct {
	AuthURL   types.String `tfsdk:"auth_url"`
	ProjectID types.String `tfsdk:"project_id"`
}

// chartModel is the argument chart.
type chartModel struct {
	chartsource.SourceModel
	Values types.List `tfsdk:"values"`
}

// template composes the template. It is not known while an argument is not.
func (m *model) template(ctx context.Context, diags *diag.Diagnostics) (*magnum.Template, bool) {
	for _, v := range []attr.Value{
		m.Name, m.Image, m.KubernetesVersion, m.Chart, m.ControlPlaneFlavor, m.NodeFlavor, m.Keypair, m.ExternalNetwork,
		m.FixedNetwork, m.FixedSubnet, m.DNSNameservers, m.NetworkDriver, m.VolumeTypes, m.Keystone, m.Labels,
	} {
		if !tfutil.FullyKnown(ctx, v) {
			return nil, false
		}
	}
	t := &magnum.Template{
		Image:             tfutil.As[imageModel](ctx, m.Image, diags).toDomain(),
		KubernetesVersion: m.KubernetesVersion.Number(), Chart: vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: chartsource.Embedded[0]}},
		ControlPlaneFlavor: m.ControlPlaneFlavor.ValueString(), NodeFlavor: m.NodeFlavor.ValueString(), Keypair: m.Keypair.ValueString(),
		ExternalNetwork: m.ExternalNetwork.ValueString(), FixedNetwork: m.FixedNetwork.ValueString(), FixedSubnet: m.FixedSubnet.ValueString(),
		NetworkDriver: m.NetworkDriver.ValueString(),
	}
	diags.Append(m.DNSNameservers.ElementsAs(ctx, &t.DNSNameservers, false)...)
	diags.Append(m.VolumeTypes.ElementsAs(ctx, &t.VolumeTypes, false)...)
	diags.Append(m.Labels.ElementsAs(ctx, &t.Labels, false)...)
	if k := tfutil.As[keystoneModel](ctx, m.Keystone, diags); k != nil {
		t.Keystone = &magnum.Keystone{AuthURL: k.AuthURL.ValueString(), ProjectID: k.ProjectID.ValueString()}
	}
	if chart := tfutil.As[chartModel](ctx, m.Chart, diags); chart != nil {
		chart.fill(t, diags)
	}
	return t, true
}

func (m *imageModel) toDomain() magnum.Image {
	if m == nil {
		return magnum.Image{}
	}
	return magnum.Image{ID: m.ID.ValueString(), Name: m.Name.ValueString(), KubeVersion: m.KubeVersion.ValueString(), OSDistro: m.OSDistro.ValueString()}
}

// fill writes the chart into a template, with the access to its server. A source that
// was left out is that of the template.
func (m *chartModel) fill(t *magnum.Template, diags *diag.Diagnostics) {
	if source := m.ToDomain(); source != (vnfm.ChartSource{}) {
		t.Chart.ChartSource = source
	}
	server := magnum.ChartServer{
		CACertificate: m.CACertificate.ValueString(), InsecureSkipTLSVerify: m.InsecureSkipTLSVerify.ValueBool(), PlainHTTP: m.PlainHTTP.ValueBool(),
	}
	if server != (magnum.ChartServer{}) {
		t.ChartServer = &server
	}
	t.Chart.Values = attrs.Documents(path.Root("chart").AtName("values"), m.Values, diags)
}
