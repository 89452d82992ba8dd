package clustertemplate

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// model is the resource as Terraform has it.
type model struct {
	ID         types.String `tfsdk:"id"`
	Definition types.String `tfsdk:"definition"`

	Name                types.String `tfsdk:"name"`
	Image               types.Object `tfsdk:"image"`
	KubernetesVersion   types.String `tfsdk:"kubernetes_version"`
	Chart               types.Object `tfsdk:"chart"`
	ControlPlaneFlavour types.String `tfsdk:"control_plane_flavour"`
	NodeFlavour         types.String `tfsdk:"node_flavour"`
	Keypair             types.String `tfsdk:"keypair"`
	ExternalNetwork     types.String `tfsdk:"external_network"`
	FixedNetwork        types.String `tfsdk:"fixed_network"`
	FixedSubnet         types.String `tfsdk:"fixed_subnet"`
	DNSNameservers      types.List   `tfsdk:"dns_nameservers"`
	NetworkDriver       types.String `tfsdk:"network_driver"`
	VolumeTypes         types.List   `tfsdk:"volume_types"`
	Keystone            types.Object `tfsdk:"keystone"`
	Labels              types.Map    `tfsdk:"labels"`
}

// template composes the template. It is not known while an argument is not.
func (m *model) template(ctx context.Context, diags *diag.Diagnostics) (*magnum.Template, bool) {
	for _, v := range []attr.Value{
		m.Name, m.Image, m.KubernetesVersion, m.Chart, m.ControlPlaneFlavour, m.NodeFlavour, m.Keypair, m.ExternalNetwork,
		m.FixedNetwork, m.FixedSubnet, m.DNSNameservers, m.NetworkDriver, m.VolumeTypes, m.Keystone, m.Labels,
	} {
		if !tfutil.FullyKnown(ctx, v) {
			return nil, false
		}
	}
	image := m.Image.Attributes()
	t := &magnum.Template{
		Image: magnum.Image{
			ID: text(image["id"]), Name: text(image["name"]), KubeVersion: text(image["kube_version"]), OSDistro: text(image["os_distro"]),
		},
		KubernetesVersion: m.KubernetesVersion.ValueString(), Chart: vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: chartsource.Embedded[0]}},
		ControlPlaneFlavour: m.ControlPlaneFlavour.ValueString(), NodeFlavour: m.NodeFlavour.ValueString(), Keypair: m.Keypair.ValueString(),
		ExternalNetwork: m.ExternalNetwork.ValueString(), FixedNetwork: m.FixedNetwork.ValueString(), FixedSubnet: m.FixedSubnet.ValueString(),
		NetworkDriver: m.NetworkDriver.ValueString(),
	}
	diags.Append(m.DNSNameservers.ElementsAs(ctx, &t.DNSNameservers, false)...)
	diags.Append(m.VolumeTypes.ElementsAs(ctx, &t.VolumeTypes, false)...)
	diags.Append(m.Labels.ElementsAs(ctx, &t.Labels, false)...)
	if tfutil.Set(m.Keystone) {
		k := m.Keystone.Attributes()
		t.Keystone = &magnum.Keystone{AuthURL: text(k["auth_url"]), ProjectID: text(k["project_id"])}
	}
	if tfutil.Set(m.Chart) {
		c := m.Chart.Attributes()
		if source := chartsource.Of(c); source != (vnfm.ChartSource{}) {
			t.Chart.ChartSource = source
		}
		t.ChartServer = serverOf(c)
		values, err := tfutil.MapToGo(c["values"])
		if err != nil {
			at := path.Root("chart").AtName("values")
			diags.AddAttributeError(at, "Not an Object", tfutil.ErrorDetail(fmt.Errorf("%s: %w", at, err)))
		}
		t.Chart.Values = values
	}
	return t, true
}

// serverOf reads how the server of the chart is spoken to; nil when that is not said.
func serverOf(chart map[string]attr.Value) *magnum.ChartServer {
	access, _ := chartsource.Access(chart)
	server := magnum.ChartServer{CACertificate: access.CACertificate, InsecureSkipTLSVerify: access.InsecureSkipTLSVerify, PlainHTTP: access.PlainHTTP}
	if server == (magnum.ChartServer{}) {
		return nil
	}
	return &server
}

func text(v attr.Value) string {
	s, _ := v.(types.String)
	return s.ValueString()
}
