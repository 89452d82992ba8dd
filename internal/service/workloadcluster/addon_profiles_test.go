package workloadcluster

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestAddonProfiles(t *testing.T) {
	t.Parallel()
	require.True(t, slices.IsSorted(profileNames()))
	bare := &vnfm.ClusterSpec{Name: "edge"}
	full := &vnfm.ClusterSpec{
		Name: "edge", Network: &vnfm.ClusterNetwork{PodCIDRs: []string{"10.1.0.0/16", "fd00::/56"}},
		OpenStack: &vnfm.ClusterOpenStack{Credential: &vnfm.ClusterCredential{}, Config: &vnfm.ClusterCloudConfig{Namespace: "kube-system", SecretName: "cloud"}},
	}
	for name, c := range map[string]struct{ bare, full string }{
		"calico": {
			bare: "installation: {cni: {type: Calico}, calicoNetwork: {bgp: Disabled}}",
			full: "installation: {cni: {type: Calico}, calicoNetwork: {bgp: Disabled, ipPools: [{cidr: 10.1.0.0/16, encapsulation: VXLAN}, {cidr: 'fd00::/56', encapsulation: VXLAN}]}}",
		},
		"cilium":         {bare: "ipam: {mode: kubernetes}", full: "ipam: {mode: kubernetes}"},
		"flannel":        {bare: "!needs the pod network of the cluster. Set network.pod_cidrs.", full: "{podCidr: 10.1.0.0/16, podCidrv6: 'fd00::/56'}"},
		"metrics-server": {bare: "args: [--kubelet-insecure-tls]", full: "args: [--kubelet-insecure-tls]"},
		"openstack-cinder-csi": {bare: "!Set openstack.application_credential and openstack.cloud_config.", full: `
secret: {enabled: true, create: false, name: cloud, filename: cloud.conf}
clusterID: edge
csi: {plugin: {volumeMounts: [{name: cloud-config, mountPath: /etc/kubernetes, readOnly: true}, {name: cloud-config, mountPath: /etc/config, readOnly: true}]}}`},
		"openstack-cloud-controller-manager": {bare: "!Set openstack.application_credential and openstack.cloud_config.", full: `
secret: {enabled: true, create: false, name: cloud}
cluster: {name: edge}
nodeSelector: {node-role.kubernetes.io/control-plane: ""}
tolerations: [{key: node.cloudprovider.kubernetes.io/uninitialized, value: "true", effect: NoSchedule}, {key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := (&addonModel{Profile: types.StringValue(name)}).profile()
			require.NotNil(t, p)
			for cluster, want := range map[*vnfm.ClusterSpec]string{bare: c.bare, full: c.full} {
				var diags diag.Diagnostics
				got := p.valuesFor("a", cluster, map[string]any{"own": "value"}, &diags)
				if missing, fails := strings.CutPrefix(want, "!"); fails {
					require.Equal(t, 1, diags.ErrorsCount())
					assert.Contains(t, diags[0].Detail(), missing)
					continue
				}
				require.Empty(t, diags)
				var values map[string]any
				require.NoError(t, yaml.Unmarshal([]byte(want), &values))
				values["own"] = "value"
				assert.Equal(t, values, got)
			}
		})
	}
	require.Len(t, addonProfiles, 6, "each profile has a case above")
}

// What an add-on says itself wins over its profile.
func TestAddonProfiles_overridden(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	m := &addonModel{Profile: types.StringValue("cilium"), Chart: types.ObjectNull(nil)}
	source := m.source(t.Context(), &diags)
	require.Equal(t, vnfm.ChartSource{Repository: "https://helm.cilium.io", Name: "cilium", Version: "1.17.5"}, source.ToDomain())
	require.NotNil(t, source.Access())
	require.Equal(t, "kube-system", m.namespace())
	m.Namespace = types.StringValue("own")
	require.Equal(t, "own", m.namespace())
	require.Equal(t, vnfm.ChartSource{}, (&addonModel{Chart: types.ObjectNull(nil)}).source(t.Context(), &diags).ToDomain())
	require.Empty(t, diags)
	require.Equal(t, map[string]any{"ipam": map[string]any{"mode": "cluster-pool"}}, m.profile().valuesFor("a", &vnfm.ClusterSpec{}, map[string]any{"ipam": map[string]any{"mode": "cluster-pool"}}, &diags))
}

// The guide has each profile with its chart and version.
func TestAddonProfiles_guide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../templates/guides/addons-on-workload-clusters.md")
	require.NoError(t, err)
	for _, p := range addonProfiles {
		assert.Contains(t, string(text), "| `"+p.name+"` | `"+p.chart+"` "+p.version+" of `"+p.repository+"` | `"+p.namespace+"` |")
	}
}
