package cloud

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestNodeNeeds: missing parts are reported where all objects are known, and not where another tool may install them.
func TestNodeNeeds(t *testing.T) {
	t.Parallel()
	const (
		plugin = `no add-on of workload cluster "edge" is a network plugin, without which no node becomes ready: ` +
			`add one, for example addons = { cni = { profile = "cilium" } }. ` + silence
		controller = `the kubelets of workload cluster "edge" wait for a cloud controller manager, and no add-on is one: its nodes keep the taint node.cloudprovider.kubernetes.io/uninitialized: ` +
			`set openstack.cloud_config, and addons = { cloud = { profile = "openstack-cloud-controller-manager" } }. ` + silence
		infrastructure = "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackCluster\nmetadata: {name: edge}\n"
		template       = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: edge}\n" + infrastructure
		kubelets       = "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: edge}\nspec: {a: {kubeletExtraArgs: {cloud-provider: external}}}\n"
	)
	chart := func(change func(*vnfm.ClusterSpec)) *vnfm.ClusterSpec {
		spec := clustertest.OpenStack(map[string]any{})
		if change != nil {
			change(spec)
		}
		return spec
	}
	addons := func(sources map[string]vnfm.ChartSource) *vnfm.ClusterSpec {
		return chart(func(s *vnfm.ClusterSpec) {
			s.Addons = map[string]vnfm.Addon{}
			for name, source := range sources {
				s.Addons[name] = vnfm.Addon{Source: source}
			}
		})
	}
	of := func(text string) *vnfm.ClusterSpec {
		return &vnfm.ClusterSpec{Name: "edge", Namespace: "core", Template: &vnfm.ClusterTemplate{Content: text}}
	}
	for name, c := range map[string]struct {
		spec *vnfm.ClusterSpec
		want []string
	}{
		"nothing":          {chart(nil), []string{plugin, controller}},
		"both":             {addons(map[string]vnfm.ChartSource{"net": {Name: "cilium"}, "cloud": {Name: "openstack-cloud-controller-manager"}}), nil},
		"other sources":    {addons(map[string]vnfm.ChartSource{"cni": {Path: "charts/own"}, "ccm": {OCI: "oci://registry.example/cloud"}}), nil},
		"resolved name":    {addons(map[string]vnfm.ChartSource{"net": {OCI: "oci://registry.example/net", Chart: &vnfm.Chart{Name: "tigera-operator"}}}), []string{controller}},
		"other add-on":     {addons(map[string]vnfm.ChartSource{"storage": {Repository: "https://kubernetes.github.io/cloud-provider-openstack", Name: "openstack-cinder-csi"}}), []string{plugin, controller}},
		"unwanted add-on":  {chart(func(s *vnfm.ClusterSpec) { s.Addons = map[string]vnfm.Addon{"cni": {Unwanted: true}} }), []string{plugin, controller}},
		"labels":           {chart(func(s *vnfm.ClusterSpec) { s.Labels = map[string]string{"cni": "elsewhere"} }), nil},
		"label of a chart": {chart(func(s *vnfm.ClusterSpec) { s.Chart.Values["clusterLabels"] = map[string]any{"cni": "elsewhere"} }), nil},
		"manifests": {chart(func(s *vnfm.ClusterSpec) {
			s.Chart.Values["workloadManifests"] = map[string]any{"net": "kind: Namespace"}
		}), nil},
		"command": {chart(func(s *vnfm.ClusterSpec) {
			s.Chart.Values["controlPlane"] = map[string]any{"machineFlavor": "m1.large", "kubeadmConfigSpec": map[string]any{"postKubeadmCommands": []any{"kubectl apply -f /etc/Calico.yaml"}}}
		}), []string{controller}},
		"paused":             {chart(func(s *vnfm.ClusterSpec) { s.Paused = new(true) }), nil},
		"in-memory":          {&vnfm.ClusterSpec{Name: "edge", KubernetesVersion: "v1.34.0", Chart: &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "in-memory"}}}, nil},
		"template":           {of(template), []string{plugin}},
		"template, kubelets": {of(template + kubelets), []string{plugin, controller}},
		"template, label":    {of("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: edge, labels: {cni: a}}\n" + infrastructure), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var problems vnfm.Problems
			objects, _ := forms.Render(c.spec, &problems)
			require.Empty(t, problems)
			var got []string
			for _, p := range checkNodeNeeds(c.spec, objects) {
				assert.Equal(t, vnfm.SeverityWarning, p.Severity)
				assert.Equal(t, vnfm.AttributeAddons, p.Attribute)
				got = append(got, p.Summary+": "+p.Detail)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
