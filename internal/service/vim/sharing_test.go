package vim

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestPlace: where a VIM is, as far as a plan knows it.
func TestPlace(t *testing.T) {
	t.Parallel()
	kubernetes := func(endpoint string) vnfm.VIMPlace {
		return vnfm.VIMPlace{Type: vnfm.VIMTypeKubernetes, Endpoint: endpoint}
	}
	config, url := types.StringValue(kubeconfigText("{token: t}")), types.StringValue("https://10.0.0.1:6443")
	for name, test := range map[string]struct {
		of   kubernetesModel
		want string
	}{
		"endpoint":                   {kubernetesModel{connectionModel: connectionModel{Endpoint: url}, Kubeconfig: config}, "https://10.0.0.1:6443"},
		"kubeconfig":                 {kubernetesModel{Kubeconfig: config}, "https://10.0.0.10:6443"},
		"write-only kubeconfig":      {kubernetesModel{KubeconfigWO: config}, "https://10.0.0.10:6443"},
		"unknown endpoint":           {kubernetesModel{connectionModel: connectionModel{Endpoint: types.StringUnknown()}, Kubeconfig: config}, ""},
		"unknown context":            {kubernetesModel{connectionModel: connectionModel{KubeconfigContext: types.StringUnknown()}, Kubeconfig: config}, ""},
		"unknown kubeconfig":         {kubernetesModel{Kubeconfig: types.StringUnknown()}, ""},
		"kubeconfig without a sense": {kubernetesModel{Kubeconfig: types.StringValue("{")}, ""},
	} {
		require.Equal(t, kubernetes(test.want), test.of.place(), name)
	}
	cloud := openstackModel{
		"auth_url": types.StringValue("https://keystone.example:5000"), "username": types.StringValue("u"), "password_wo": types.StringValue("p"),
		"project_name": types.StringValue("core"), "region": types.StringValue("one"),
	}
	place := cloud.place()
	require.False(t, place.Differs(vnfm.VIMPlace{Type: vnfm.VIMTypeOpenStack, Endpoint: "https://keystone.example:5000/v3", ProjectName: "core", Region: "one"}), place)
	require.True(t, place.Differs(vnfm.VIMPlace{Type: vnfm.VIMTypeOpenStack, Endpoint: "https://keystone.example:5000/v3", ProjectName: "core", Region: "two"}), place)
	cloud["region"] = types.StringUnknown()
	require.Equal(t, vnfm.VIMPlace{Type: vnfm.VIMTypeOpenStack}, cloud.place())
}

// TestSharedVIM: what another configuration says of a VIM that it shares makes no difference; what the VIM itself says does.
func TestSharedVIM(t *testing.T) {
	t.Parallel()
	read := func(m *resourceModel, shared bool) {
		t.Helper()
		v := vnfm.VIM{
			ID: "id", Name: "edge", Description: "theirs", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{TokenFile: "/theirs"},
			Status: vnfm.VIMReachable, ServerVersion: "v1.34.1", Shared: shared,
		}
		require.Empty(t, m.fromVIM(t.Context(), &v))
	}
	none := func() resourceModel {
		return resourceModel{commonModel: commonModel{Kubernetes: types.ObjectNull(kubernetesTypes()), OpenStack: types.ObjectNull(openstackTypes())}}
	}
	imported := none()
	read(&imported, true)
	require.Equal(t, types.StringValue("edge"), imported.Name)
	ours := func(m resourceModel) attr.Value { return m.Kubernetes.Attributes()["token_file"] }
	require.Equal(t, types.StringValue("/theirs"), ours(imported))

	m := imported
	m.Description = types.StringValue("ours")
	k, diags := m.kubernetes(t.Context())
	require.Empty(t, diags)
	k.TokenFile = types.StringValue("/ours")
	m.Kubernetes, diags = types.ObjectValueFrom(t.Context(), kubernetesTypes(), k)
	require.Empty(t, diags)
	m.ServerVersion = types.StringNull()
	read(&m, true)
	require.Equal(t, types.StringValue("ours"), m.Description)
	require.Equal(t, types.StringValue("/ours"), ours(m))
	require.Equal(t, types.StringValue("1.34.1"), m.ServerVersion)
	read(&m, false)
	require.Equal(t, types.StringValue("theirs"), m.Description)
	require.Equal(t, types.StringValue("/theirs"), ours(m))
}
