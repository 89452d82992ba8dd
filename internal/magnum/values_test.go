package magnum

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const uuid = "e63ca1a0-f69d-4fbf-b306-310857b1afe5"

// outside is a template with the chart of capi-helm-charts, which has addons.
func outside() *Template {
	return &Template{
		Image: Image{ID: uuid, KubeVersion: "v1.34.2", OSDistro: "ubuntu"},
		Chart: vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Path: "charts/openstack-cluster"}}, ControlPlaneFlavor: "m1.large", NodeFlavor: "m1.medium",
	}
}

// complete is a cluster of a template, which must be right.
func complete(t *testing.T, template *Template, c Choices, spec *vnfm.ClusterSpec) *vnfm.ClusterSpec {
	t.Helper()
	var ps vnfm.Problems
	template.Check(&ps)
	template.Complete(spec, c, &ps)
	require.Empty(t, ps)
	return spec
}

// at is the value at a path; nil when there is none.
func at(values map[string]any, path string) any {
	var v any = values
	for _, step := range strings.Split(path, ".") {
		m, _ := v.(map[string]any)
		v = m[step]
	}
	return v
}

// Each row is one of what Magnum says and the values of the chart that follow.
func TestValues(t *testing.T) {
	type values = map[string]any
	labelled := func(labels ...string) func(*Template, *Choices) {
		return func(template *Template, _ *Choices) {
			template.Labels = map[string]string{}
			for i := 0; i < len(labels); i += 2 {
				template.Labels[labels[i]] = labels[i+1]
			}
		}
	}
	lb, nodes := "addons.openstack.cloudConfig.LoadBalancer.", "nodeGroupDefaults."
	for name, c := range map[string]struct {
		change func(*Template, *Choices)
		want   values
	}{
		"image by id": {nil, values{"machineImageId": uuid, "machineImage": nil, "osDistro": "ubuntu"}},
		"image by name": {func(t *Template, _ *Choices) { t.Image.ID, t.Image.Name, t.Image.OSDistro = "", "node", "flatcar" },
			values{"machineImageId": nil, "machineImage": "node", "osDistro": "flatcar"}},
		"no keypair":              {nil, values{"machineSSHKeyName": nil}},
		"keypair of the template": {func(t *Template, _ *Choices) { t.Keypair = "ops" }, values{"machineSSHKeyName": "ops"}},
		"keypair of the cluster":  {func(t *Template, c *Choices) { t.Keypair, c.Keypair = "ops", "mine" }, values{"machineSSHKeyName": "mine"}},
		"credentials":             {nil, values{"cloudCredentialsSecretName": "edge-cloud-credentials"}},
		"other credentials":       {func(_ *Template, c *Choices) { c.CredentialsSecret = "cloud" }, values{"cloudCredentialsSecretName": "cloud"}},
		"no etcd device":          {labelled("etcd_blockdevice_size", "0"), values{"etcd": nil}},
		"etcd device":             {labelled("etcd_blockdevice_size", "10"), values{"etcd.blockDevice": values{"size": int64(10), "type": "Volume"}}},
		"etcd device, old names":  {labelled("etcd_volume_size", "8", "etcd_volume_type", "fast"), values{"etcd.blockDevice": values{"size": int64(8), "type": "Volume", "volumeType": "fast"}}},
		"old and new name":        {labelled("etcd_volume_size", "8", "etcd_blockdevice_size", "10"), values{"etcd.blockDevice.size": int64(10)}},
		"etcd device, local":      {labelled("etcd_blockdevice_size", "10", "etcd_blockdevice_type", "local"), values{"etcd.blockDevice": values{"size": int64(10), "type": "Local"}}},
		"etcd device, type":       {labelled("etcd_blockdevice_size", "10", "etcd_blockdevice_type", "volume", "etcd_blockdevice_volume_type", "fast"), values{"etcd.blockDevice.volumeType": "fast"}},
		"etcd device, zone":       {labelled("etcd_blockdevice_size", "10", "etcd_blockdevice_volume_az", "nova"), values{"etcd.blockDevice.availabilityZone": "nova"}},
		"floating IP":             {nil, values{"apiServer.associateFloatingIP": true, "apiServer.enableLoadBalancer": true}},
		"no floating IP":          {labelled("master_lb_floating_ip_enabled", "False"), values{"apiServer.associateFloatingIP": false, "apiServer.enableLoadBalancer": true}},
		"amphora":                 {nil, values{"apiServer.loadBalancerProvider": "amphora", lb + "lb-provider": "amphora", lb + "lb-method": "ROUND_ROBIN"}},
		"ovn":                     {labelled("octavia_provider", "ovn"), values{"apiServer.loadBalancerProvider": "ovn", lb + "lb-provider": "ovn", lb + "lb-method": "SOURCE_IP_PORT"}},
		"anybody":                 {nil, values{"apiServer.allowedCIDRs": nil}},
		"allowed CIDRs":           {labelled("api_master_lb_allowed_cidrs", "10.0.0.0/8, 192.168.0.0/16"), values{"apiServer.allowedCIDRs": []any{"10.0.0.0/8", "192.168.0.0/16"}, "apiServer.allowedCidrs": nil}},
		"no name servers":         {nil, values{"clusterNetworking.dnsNameservers": nil}},
		"name servers":            {func(t *Template, _ *Choices) { t.DNSNameservers = []string{"1.1.1.1", "8.8.8.8"} }, values{"clusterNetworking.dnsNameservers": []any{"1.1.1.1", "8.8.8.8"}}},
		"external network":        {func(t *Template, _ *Choices) { t.ExternalNetwork = uuid }, values{"clusterNetworking.externalNetworkId": uuid}},
		"network is made":         {nil, values{"clusterNetworking.internalNetwork": values{"nodeCidr": "10.0.0.0/24"}}},
		"its addresses":           {labelled("fixed_subnet_cidr", "10.9.0.0/16"), values{"clusterNetworking.internalNetwork.nodeCidr": "10.9.0.0/16"}},
		"network by id":           {func(t *Template, _ *Choices) { t.FixedNetwork = uuid }, values{"clusterNetworking.internalNetwork.networkFilter": values{"id": uuid}}},
		"network by name":         {func(t *Template, c *Choices) { t.FixedNetwork, c.FixedNetwork = uuid, "mine" }, values{"clusterNetworking.internalNetwork.networkFilter": values{"name": "mine"}}},
		"subnet":                  {func(_ *Template, c *Choices) { c.FixedSubnet = uuid }, values{"clusterNetworking.internalNetwork.subnetFilter": values{"id": uuid}}},
		"healing":                 {nil, values{"controlPlane.healthCheck.enabled": true, nodes + "healthCheck.enabled": true}},
		"no healing":              {labelled("auto_healing_enabled", "no"), values{"controlPlane.healthCheck.enabled": false, nodes + "healthCheck.enabled": false}},
		"disk of the flavor":      {nil, values{"controlPlane.machineRootVolume": nil, nodes + "machineRootVolume": nil}},
		"boot volume":             {labelled("boot_volume_size", "40", "boot_volume_type", "fast"), values{"controlPlane.machineRootVolume": values{"diskSize": int64(40), "volumeType": "fast"}, nodes + "machineRootVolume.diskSize": int64(40)}},
		"no extra network":        {nil, values{nodes + "machineNetworking": nil}},
		"extra networks":          {labelled("extra_network_names", "storage sig"), values{nodes + "machineNetworking.ports": []any{values{}, port("storage"), port("sig")}, "controlPlane.machineNetworking": nil}},
		"extra network, old name": {labelled("extra_network_name", "storage"), values{nodes + "machineNetworking.ports": []any{values{}, port("storage")}}},
		"monitoring off":          {nil, values{"addons.monitoring.enabled": false}},
		"monitoring":              {labelled("monitoring_enabled", "true"), values{"addons.monitoring.enabled": true}},
		"dashboard":               {nil, values{"addons.kubernetesDashboard.enabled": true}},
		"dashboard off":           {labelled("kube_dashboard_enabled", "false"), values{"addons.kubernetesDashboard.enabled": false}},
		"ingress":                 {nil, values{"addons.ingress.enabled": false}},
		"algorithm":               {labelled("octavia_lb_algorithm", "LEAST_CONNECTIONS"), values{lb + "lb-method": "LEAST_CONNECTIONS"}},
		"monitor":                 {nil, values{lb + "create-monitor": true}},
		"no monitor":              {labelled("octavia_lb_healthcheck", "0"), values{lb + "create-monitor": false}},
		"no storage classes":      {nil, values{"addons.openstack.csiCinder": nil}},
		"storage classes":         {func(t *Template, _ *Choices) { t.VolumeTypes = []string{"Fast SSD", "slow"} }, values{"addons.openstack.csiCinder.defaultStorageClass": class("fast-ssd", "Fast SSD", "ext4"), "addons.openstack.csiCinder.additionalStorageClasses": []any{class("slow", "slow", "ext4")}}},
		"default type":            {func(t *Template, _ *Choices) { t.VolumeTypes = []string{"__DEFAULT__"} }, values{"addons.openstack.csiCinder.defaultStorageClass": class("default", "__DEFAULT__", "ext4")}},
		"default type of volumes": {labelled("boot_volume_size", "40", "boot_volume_type", "__DEFAULT__", "etcd_blockdevice_size", "10", "etcd_blockdevice_volume_type", "__DEFAULT__"),
			values{"controlPlane.machineRootVolume.volumeType": "__DEFAULT__", "etcd.blockDevice.volumeType": "__DEFAULT__"}},
		"class of the chart": {labelled("csi_cinder_reclaim_policy", "Delete", "csi_cinder_allow_volume_expansion", "no"),
			values{"addons.openstack.csiCinder": values{"defaultStorageClass": values{"reclaimPolicy": "Delete", "allowVolumeExpansion": false}}}},
		"system": {func(t *Template, _ *Choices) { t.Image.OSDistro = "rockylinux" }, values{"osDistro": "rockylinux"}},
		"file system": {func(t *Template, _ *Choices) {
			t.VolumeTypes, t.Labels = []string{"slow"}, map[string]string{"csi_cinder_fstype": "xfs"}
		}, values{"addons.openstack.csiCinder.defaultStorageClass": class("slow", "slow", "xfs")}},
		"no keystone": {nil, values{"authWebhook": nil, "addons.openstack.k8sKeystoneAuth": nil}},
		"keystone": {func(t *Template, c *Choices) {
			t.Keystone, c.Labels = &Keystone{"https://keystone", "p"}, map[string]string{"keystone_auth_enabled": "true"}
		}, values{"authWebhook": "k8s-keystone-auth", "addons.openstack.k8sKeystoneAuth": values{"enabled": true, "values": values{"openstackAuthUrl": "https://keystone", "projectId": "p"}}}},
		"network driver of a chart": {nil, values{"addons.cni": nil}},
		"network driver":            {func(t *Template, _ *Choices) { t.NetworkDriver = "cilium" }, values{"addons.cni.type": "cilium"}},
		"label of the cluster wins": {func(t *Template, c *Choices) {
			t.Labels, c.Labels = map[string]string{"octavia_provider": "ovn"}, map[string]string{"octavia_provider": "f5"}
		}, values{"apiServer.loadBalancerProvider": "f5"}},
		"values over the labels": {func(t *Template, _ *Choices) {
			t.Chart.Values = values{"apiServer": values{"loadBalancerProvider": "f5"}}
		}, values{"apiServer.loadBalancerProvider": "f5", "apiServer.associateFloatingIP": true}},
		"embedded chart": {func(t *Template, _ *Choices) {
			t.Chart = vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "openstack"}}
			t.Labels = map[string]string{"kube_dashboard_enabled": "false"}
		}, values{"addons": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			template, choices := outside(), Choices{}
			if c.change != nil {
				c.change(template, &choices)
			}
			got := complete(t, template, choices, &vnfm.ClusterSpec{Name: "edge"}).Chart.Values
			for path, want := range c.want {
				assert.Equal(t, want, at(got, path), path)
			}
		})
	}
}

func port(network string) map[string]any {
	return map[string]any{"network": map[string]any{"filter": map[string]any{"name": network}}, "securityGroups": []any{}}
}

func class(name, kind, fstype string) map[string]any {
	return map[string]any{
		"name": name, "volumeType": kind, "enabled": true, "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer",
		"allowVolumeExpansion": true, "fstype": fstype, "availabilityZone": "nova",
	}
}

// A chart that is fetched has addons like one at a path, and its definition says all but
// who asks for it.
func TestChartOfRepository(t *testing.T) {
	fetched := outside()
	fetched.Chart.ChartSource = vnfm.ChartSource{Repository: "https://charts.example", Name: "openstack-cluster", Version: "~0.27"}
	fetched.ChartServer = &ChartServer{CACertificate: "pem"}
	definition, err := fetched.Definition()
	require.NoError(t, err)
	assert.Contains(t, definition, `"chart":{"name":"openstack-cluster","repository":"https://charts.example","version":"~0.27"},"chart_server":{"ca_certificate":"pem"}`)
	read, err := Parse(definition)
	require.NoError(t, err)
	spec := complete(t, read, Choices{}, &vnfm.ClusterSpec{Name: "edge"})
	assert.Equal(t, fetched.Chart.ChartSource, spec.Chart.ChartSource)
	assert.NotNil(t, at(spec.Chart.Values, "addons"))
	assert.Equal(t, &vnfm.ChartAccess{Username: "u", Password: "p", CACertificate: "pem"}, read.ChartServer.Access("u", "p"))
	assert.Equal(t, &vnfm.ChartAccess{Username: "u"}, (*ChartServer)(nil).Access("u", ""))
}
