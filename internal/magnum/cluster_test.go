package magnum

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func number(n int64) *int64 { return &n }

func TestCompleteFillsWhatTheClusterLeavesOut(t *testing.T) {
	spec := complete(t, outside(), Choices{}, &vnfm.ClusterSpec{Name: "edge"})
	assert.Equal(t, "1.34.2", spec.KubernetesVersion)
	assert.Equal(t, vnfm.ClusterControlPlane{Replicas: number(1), Flavor: "m1.large"}, spec.ControlPlane)
	assert.Equal(t, map[string]vnfm.NodeGroup{DefaultGroup: {Replicas: number(1), Flavor: "m1.medium"}}, spec.NodeGroups)

	spec = complete(t, outside(), Choices{}, &vnfm.ClusterSpec{
		Name: "edge", KubernetesVersion: "v1.34.2", ControlPlane: vnfm.ClusterControlPlane{Replicas: number(3), Flavor: "big"},
		NodeGroups: map[string]vnfm.NodeGroup{"upf": {Replicas: number(4), Flavor: "fast"}, "amf": {MinReplicas: number(1), MaxReplicas: number(2)}},
	})
	assert.Equal(t, vnfm.ClusterControlPlane{Replicas: number(3), Flavor: "big"}, spec.ControlPlane)
	assert.Equal(t, vnfm.NodeGroup{Replicas: number(4), Flavor: "fast"}, spec.NodeGroups["upf"])
	assert.Equal(t, vnfm.NodeGroup{MinReplicas: number(1), MaxReplicas: number(2), Flavor: "m1.medium"}, spec.NodeGroups["amf"])
}

func TestAutoscaling(t *testing.T) {
	for name, c := range map[string]struct {
		labels map[string]string
		group  vnfm.NodeGroup
		want   vnfm.NodeGroup
	}{
		"off":           {map[string]string{"auto_scaling_enabled": "false"}, vnfm.NodeGroup{Replicas: number(2)}, vnfm.NodeGroup{Replicas: number(2)}},
		"both limits":   {map[string]string{"auto_scaling_enabled": "true", "min_node_count": "1", "max_node_count": "5"}, vnfm.NodeGroup{Replicas: number(2)}, vnfm.NodeGroup{MinReplicas: number(1), MaxReplicas: number(5)}},
		"least is left": {map[string]string{"auto_scaling_enabled": "true", "max_node_count": "5"}, vnfm.NodeGroup{Replicas: number(2)}, vnfm.NodeGroup{MinReplicas: number(2), MaxReplicas: number(5)}},
		"most is left":  {map[string]string{"auto_scaling_enabled": "true", "min_node_count": "1"}, vnfm.NodeGroup{Replicas: number(2)}, vnfm.NodeGroup{MinReplicas: number(1), MaxReplicas: number(2)}},
		"same limits":   {map[string]string{"auto_scaling_enabled": "true"}, vnfm.NodeGroup{Replicas: number(2)}, vnfm.NodeGroup{Replicas: number(2)}},
		"limits of its own": {map[string]string{"auto_scaling_enabled": "true", "max_node_count": "9"},
			vnfm.NodeGroup{MinReplicas: number(2), MaxReplicas: number(3)}, vnfm.NodeGroup{MinReplicas: number(2), MaxReplicas: number(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Flavor = "m1.medium"
			spec := complete(t, outside(), Choices{Labels: c.labels}, &vnfm.ClusterSpec{Name: "edge", NodeGroups: map[string]vnfm.NodeGroup{DefaultGroup: c.group}})
			assert.Equal(t, c.want, spec.NodeGroups[DefaultGroup])
		})
	}
}

func TestProblemsOfTemplates(t *testing.T) {
	embedded := func(t *Template) { t.Chart = vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "openstack"}} }
	labelled := func(name, value string) func(*Template) {
		return func(t *Template) { t.Labels = map[string]string{name: value} }
	}
	for name, c := range map[string]struct {
		change []func(*Template)
		at     string
		want   string
	}{
		"version of the image":    {[]func(*Template){func(t *Template) { t.Image.KubeVersion = "newest" }}, "image.kube_version", `"newest" is not a valid version of Kubernetes`},
		"another version":         {[]func(*Template){func(t *Template) { t.KubernetesVersion = "1.35.0" }}, "kubernetes_version", `the image has Kubernetes 1.34.2, not 1.35.0`},
		"distribution":            {[]func(*Template){func(t *Template) { t.Image.OSDistro = "fedora-coreos" }}, "image.os_distro", `is one of ubuntu, debian, rocky`},
		"driver of the embedded":  {[]func(*Template){embedded, func(t *Template) { t.NetworkDriver = "calico" }}, "network_driver", `installs no network driver`},
		"storage of the embedded": {[]func(*Template){embedded, func(t *Template) { t.VolumeTypes = []string{"fast"} }}, "volume_types", `installs no storage driver`},
		"classes of one name":     {[]func(*Template){func(t *Template) { t.VolumeTypes = []string{"Fast SSD", "fast-ssd"} }}, "volume_types", `the volume types "Fast SSD" and "fast-ssd" would both be named "fast-ssd"`},
		"class without a name":    {[]func(*Template){func(t *Template) { t.VolumeTypes = []string{"核心"} }}, "volume_types", `no storage class can be named after the volume type "核心"`},
		"unknown label":           {[]func(*Template){labelled("colour", "blue")}, "labels", `there is no label "colour" here: the known labels are api_master_lb_allowed_cidrs, auto_healing_enabled`},
		"label of an argument":    {[]func(*Template){labelled("kube_tag", "v1.34.2")}, "labels", `the version of Kubernetes is kubernetes_version`},
		"chart version":           {[]func(*Template){labelled("capi_helm_chart_version", "0.27.0")}, "labels", `the version of a chart is chart.version`},
		"no truth":                {[]func(*Template){labelled("auto_healing_enabled", "perhaps")}, "labels", `true or false is expected`},
		"no number":               {[]func(*Template){labelled("boot_volume_size", "big")}, "labels", `a whole number is expected`},
		"no address":              {[]func(*Template){labelled("fixed_subnet_cidr", "10.0.0.0")}, "labels", `an address block such as`},
		"no addresses":            {[]func(*Template){labelled("api_master_lb_allowed_cidrs", "10.0.0.0/8,all")}, "labels", `an address block such as`},
		"unsafe text":             {[]func(*Template){labelled("boot_volume_type", "a;b")}, "labels", `a text of letters`},
		"unknown type":            {[]func(*Template){labelled("etcd_blockdevice_type", "ramdisk")}, "labels", `volume or local is expected`},
		"type without size":       {[]func(*Template){labelled("etcd_volume_type", "fast")}, "labels", `etcd has no block device`},
		"boot type without size":  {[]func(*Template){labelled("boot_volume_type", "fast")}, "labels", `machines have no boot volume`},
		"local with a type": {[]func(*Template){func(t *Template) {
			t.Labels = map[string]string{"etcd_blockdevice_size": "1", "etcd_blockdevice_type": "local", "etcd_blockdevice_volume_type": "fast"}
		}}, "labels", `is local and no volume`},
		"algorithm of ovn": {[]func(*Template){labelled("octavia_lb_algorithm", "SOURCE_IP_PORT")}, "labels", `the provider amphora has no algorithm SOURCE_IP_PORT`},
		"algorithm for ovn": {[]func(*Template){func(t *Template) {
			t.Labels = map[string]string{"octavia_provider": "ovn", "octavia_lb_algorithm": "ROUND_ROBIN"}
		}}, "labels", `the provider ovn has no algorithm ROUND_ROBIN`},
		"addresses of what exists": {[]func(*Template){labelled("fixed_subnet_cidr", "10.0.0.0/8"), func(t *Template) { t.FixedNetwork = "mine" }}, "labels", `a network that exists`},
		"no addons":                {[]func(*Template){embedded, labelled("monitoring_enabled", "true")}, "labels", `has no addons`},
		"no keystone":              {[]func(*Template){labelled("keystone_auth_enabled", "true")}, "labels", `give keystone.auth_url`},
	} {
		t.Run(name, func(t *testing.T) {
			template := outside()
			for _, change := range c.change {
				change(template)
			}
			var ps vnfm.Problems
			template.Check(&ps)
			require.Len(t, ps, 1)
			assert.Equal(t, c.at, ps[0].Attribute)
			assert.Contains(t, ps[0].String(), c.want)
		})
	}
}

func TestProblemsOfClusters(t *testing.T) {
	group := func(g vnfm.NodeGroup) *vnfm.ClusterSpec {
		return &vnfm.ClusterSpec{Name: "edge", NodeGroups: map[string]vnfm.NodeGroup{DefaultGroup: g}}
	}
	scaled := func(least, most string) map[string]string {
		return map[string]string{"auto_scaling_enabled": "true", "min_node_count": least, "max_node_count": most}
	}
	for name, c := range map[string]struct {
		spec   *vnfm.ClusterSpec
		labels map[string]string
		at     string
		want   string
	}{
		"another version": {&vnfm.ClusterSpec{KubernetesVersion: "1.33.0"}, nil, "kubernetes_version", `the cluster template has Kubernetes 1.34.2, not 1.33.0`},
		"unknown label":   {&vnfm.ClusterSpec{}, map[string]string{"colour": "blue"}, attributeChoices, `there is no label "colour" here`},
		"odd together":    {&vnfm.ClusterSpec{}, map[string]string{"etcd_volume_type": "fast"}, attributeChoices, `etcd has no block device`},
		"no autoscaler":   {group(vnfm.NodeGroup{MinReplicas: number(1), MaxReplicas: number(2)}), map[string]string{"auto_scaling_enabled": "false"}, "node_groups", `the label auto_scaling_enabled is false`},
		"from zero":       {group(vnfm.NodeGroup{MinReplicas: number(0), MaxReplicas: number(2)}), nil, "node_groups", `does not scale a group from zero`},
		"no autoscaling":  {group(vnfm.NodeGroup{Replicas: number(2)}), map[string]string{"max_node_count": "3"}, attributeChoices, `label "max_node_count" means nothing without an autoscaler`},
		"none at least":   {group(vnfm.NodeGroup{Replicas: number(2)}), scaled("0", "3"), "node_groups", `min_node_count must be at least 1`},
		"above the count": {group(vnfm.NodeGroup{Replicas: number(2)}), scaled("3", "4"), "node_groups", `has 2 nodes, and min_node_count is 3`},
		"the wrong way":   {group(vnfm.NodeGroup{Replicas: number(2)}), scaled("2", "1"), "node_groups", `has a minimum of 2 nodes, above the maximum of 1`},
	} {
		t.Run(name, func(t *testing.T) {
			var ps vnfm.Problems
			outside().Complete(c.spec, Choices{Labels: c.labels}, &ps)
			require.Len(t, ps, 1)
			assert.Equal(t, c.at, ps[0].Attribute)
			assert.Contains(t, ps[0].String(), c.want)
		})
	}
}

func TestDefinitionIsReadAsItWasWritten(t *testing.T) {
	template := outside()
	template.Labels = map[string]string{"octavia_provider": "ovn"}
	template.Chart.Values = map[string]any{"apiServer": map[string]any{"port": int64(443)}, "share": 0.5, "list": []any{int64(1)}}
	text, err := template.Definition()
	require.NoError(t, err)
	read, err := Parse(text)
	require.NoError(t, err)
	assert.Equal(t, template, read)

	before := ID("standard", text)
	template.Keypair = "ops"
	other, err := template.Definition()
	require.NoError(t, err)
	assert.NotEqual(t, before, ID("standard", other))
	_, err = Parse(`{"image":{},"colour":"blue"}`)
	require.ErrorContains(t, err, "colour")
}

// The external network is found by its name also for a chart that takes an id alone, unless the cluster says another one.
func TestExternalNetworkByName(t *testing.T) {
	named := outside()
	named.ExternalNetwork = "public"
	spec := complete(t, named, Choices{}, &vnfm.ClusterSpec{Name: "edge", Network: &vnfm.ClusterNetwork{ServiceDomain: "edge.local"}})
	assert.Equal(t, &vnfm.ClusterNetwork{ServiceDomain: "edge.local", External: &vnfm.CloudResource{Name: "public"}}, spec.Network)
	assert.Nil(t, at(spec.Chart.Values, "clusterNetworking.externalNetworkId"))

	own := &vnfm.ClusterNetwork{External: &vnfm.CloudResource{ID: uuid}}
	assert.Equal(t, own, complete(t, named, Choices{}, &vnfm.ClusterSpec{Name: "edge", Network: own}).Network)

	named.Chart = vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "openstack"}}
	spec = complete(t, named, Choices{}, &vnfm.ClusterSpec{Name: "edge"})
	assert.Nil(t, spec.Network)
	assert.Equal(t, "public", at(spec.Chart.Values, "clusterNetworking.externalNetworkId"))
}
