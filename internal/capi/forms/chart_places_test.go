package forms

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// outside returns a cluster with a chart that is not embedded, in the shape of openstack-cluster.
func outside(change func(*vnfm.ClusterSpec, *vnfm.NodeGroup)) *vnfm.ClusterSpec {
	spec := &vnfm.ClusterSpec{
		Name: "edge", Namespace: "core", APIVersion: "v1beta2", KubernetesVersion: "v1.34.0",
		Chart: &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Path: "testdata/outside"}},
	}
	two := int64(2)
	group := vnfm.NodeGroup{Replicas: &two, Flavor: "medium"}
	if change != nil {
		change(spec, &group)
	}
	if spec.NodeGroups == nil {
		spec.NodeGroups = map[string]vnfm.NodeGroup{"upf": group}
	}
	return spec
}

func number(n int64) *int64 { return &n }

func duration(d time.Duration) *time.Duration { return &d }

// rendered returns the value at a path of an object. It requires a cluster without problems.
func rendered(t *testing.T, spec *vnfm.ClusterSpec, kind, name, path string) any {
	t.Helper()
	var ps vnfm.Problems
	objects, _ := Render(spec, &ps)
	require.Empty(t, ps)
	for _, o := range objects {
		if o["kind"] == kind && StringAt(o, "metadata", "name") == name {
			return valueAt(o, path)
		}
	}
	return nil
}

// TestChartPlaces: each argument reaches the objects of a chart that is not embedded by the name that the chart has for it, or is refused
// with its path.
func TestChartPlaces(t *testing.T) {
	const cluster, cloud, control, group = "Cluster edge", "OpenStackCluster edge", "KubeadmControlPlane edge-control-plane", "MachineDeployment edge-upf"
	type spec = vnfm.ClusterSpec
	type nodes = vnfm.NodeGroup
	unhealthy := []any{map[string]any{"type": "Ready", "status": "Unknown", "timeout": "90s"}, map[string]any{"type": "Ready", "status": "False", "timeout": "90s"}}
	check := &vnfm.HealthCheck{Enabled: true, UnhealthyTimeout: 90 * time.Second, NodeStartupTimeout: 600 * time.Second, MaxUnhealthy: "40%"}
	limits := &vnfm.MachineDeletion{NodeDrainTimeout: duration(time.Minute), NodeVolumeDetachTimeout: duration(0), NodeDeletionTimeout: duration(time.Hour)}
	place := vnfm.MachinePlace{RootVolume: &vnfm.RootVolume{SizeGiB: 40, Type: "fast"}, Networks: []vnfm.MachineNetwork{{}, {CloudResource: vnfm.CloudResource{Name: "n6"}}}}
	ports := []any{map[string]any{}, map[string]any{"network": map[string]any{"filter": map[string]any{"name": "n6"}}}}
	for argument, c := range map[string]struct {
		change       func(*spec, *nodes)
		object, path string
		want         any
		// refused is where the argument is refused instead.
		refused string
	}{
		"kubernetes_version":      {nil, control, "spec.version", "v1.34.0", ""},
		"labels":                  {func(s *spec, _ *nodes) { s.Labels = map[string]string{"a": "b"} }, "", "", nil, "labels"},
		"annotations":             {func(s *spec, _ *nodes) { s.Annotations = map[string]string{"a": "b"} }, cluster, "metadata.annotations.a", "b", ""},
		"network.pod_cidrs":       {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{PodCIDRs: []string{"10.0.0.0/8"}} }, cluster, "spec.clusterNetwork.pods.cidrBlocks", []any{"10.0.0.0/8"}, ""},
		"network.service_cidrs":   {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{ServiceCIDRs: []string{"10.0.0.0/8"}} }, cluster, "spec.clusterNetwork.services.cidrBlocks", []any{"10.0.0.0/8"}, ""},
		"network.service_domain":  {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{ServiceDomain: "edge"} }, cluster, "spec.clusterNetwork.serviceDomain", "edge", ""},
		"network.api_server_port": {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{APIServerPort: 443} }, cloud, "spec.apiServerPort", float64(443), ""},
		"network.internal":        {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{Internal: &vnfm.CloudResource{ID: "n"}} }, cloud, "spec.network.id", "n", ""},
		"network.internal_subnet": {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{Subnet: &vnfm.CloudResource{ID: "n"}} }, cloud, "spec.subnets", []any{map[string]any{"id": "n"}}, ""},
		"network.external":        {func(s *spec, _ *nodes) { s.Network = &vnfm.ClusterNetwork{External: &vnfm.CloudResource{ID: "n"}} }, cloud, "spec.externalNetwork.id", "n", ""},
		"network.external by name": {func(s *spec, _ *nodes) {
			s.Network = &vnfm.ClusterNetwork{External: &vnfm.CloudResource{Name: "public"}}
		}, cloud, "spec.externalNetwork", map[string]any{"filter": map[string]any{"name": "public"}}, ""},
		"openstack.application_credential": {func(s *spec, _ *nodes) {
			s.OpenStack = &vnfm.ClusterOpenStack{Credential: &vnfm.ClusterCredential{SecretName: "own", CloudName: "openstack"}}
		}, cloud, "spec.identityRef.name", "own", ""},
		"rollout_after": {func(s *spec, _ *nodes) { s.RolloutAfter = "2026-01-01T00:00:00Z" }, "", "", nil, "rollout_after"},

		"control_plane.replicas":                            {func(s *spec, _ *nodes) { s.ControlPlane.Replicas = number(5) }, control, "spec.replicas", float64(5), ""},
		"control_plane.flavor":                              {func(s *spec, _ *nodes) { s.ControlPlane.Flavor = "big" }, control, "spec.machineTemplate.flavor", "big", ""},
		"control_plane.labels":                              {func(s *spec, _ *nodes) { s.ControlPlane.Labels = map[string]string{"tier": "1"} }, control, "spec.kubeadmConfigSpec.joinConfiguration.nodeRegistration.kubeletExtraArgs", map[string]any{"node-labels": "tier=1,"}, ""},
		"control_plane.failure_domains":                     {func(s *spec, _ *nodes) { s.ControlPlane.FailureDomains = []string{"a"} }, cloud, "spec.controlPlaneAvailabilityZones", []any{"a"}, ""},
		"control_plane.root_volume":                         {func(s *spec, _ *nodes) { s.ControlPlane.MachinePlace = place }, control, "spec.machineTemplate.volume", map[string]any{"diskSize": float64(40), "volumeType": "fast"}, ""},
		"control_plane.networks":                            {func(s *spec, _ *nodes) { s.ControlPlane.MachinePlace = place }, control, "spec.machineTemplate.ports", ports, ""},
		"control_plane.health_check.unhealthy_timeout":      {func(s *spec, _ *nodes) { s.ControlPlane.HealthCheck = check }, "MachineHealthCheck edge-control-plane", "spec.unhealthyConditions", unhealthy, ""},
		"control_plane.health_check.node_startup_timeout":   {func(s *spec, _ *nodes) { s.ControlPlane.HealthCheck = check }, "MachineHealthCheck edge-control-plane", "spec.nodeStartupTimeout", "600s", ""},
		"control_plane.health_check.max_unhealthy":          {func(s *spec, _ *nodes) { s.ControlPlane.HealthCheck = check }, "MachineHealthCheck edge-control-plane", "spec.maxUnhealthy", "40%", ""},
		"control_plane.health_check.enabled":                {func(s *spec, _ *nodes) { s.ControlPlane.HealthCheck = &vnfm.HealthCheck{} }, "MachineHealthCheck edge-control-plane", "spec", nil, ""},
		"control_plane.deletion.node_drain_timeout":         {func(s *spec, _ *nodes) { s.ControlPlane.Deletion = limits }, control, "spec.machineTemplate.nodeDrainTimeout", "60s", ""},
		"control_plane.deletion.node_volume_detach_timeout": {func(s *spec, _ *nodes) { s.ControlPlane.Deletion = limits }, control, "spec.machineTemplate.nodeVolumeDetachTimeout", "0s", ""},
		"control_plane.deletion.node_deletion_timeout":      {func(s *spec, _ *nodes) { s.ControlPlane.Deletion = limits }, control, "spec.machineTemplate.nodeDeletionTimeout", "3600s", ""},

		"node_groups.replicas":       {nil, group, "spec.replicas", float64(2), ""},
		"node_groups.min_replicas":   {func(_ *spec, g *nodes) { g.Replicas, g.MinReplicas, g.MaxReplicas = nil, number(0), number(3) }, group, "metadata.annotations", map[string]any{"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "0", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "3"}, ""},
		"node_groups.max_replicas":   {func(_ *spec, g *nodes) { g.Replicas, g.MinReplicas, g.MaxReplicas = nil, number(1), number(3) }, group, "spec.replicas", nil, ""},
		"node_groups.flavor":         {nil, group, "spec.template.spec.flavor", "medium", ""},
		"node_groups.failure_domain": {func(_ *spec, g *nodes) { g.FailureDomain = "nova" }, group, "spec.template.spec.failureDomain", "nova", ""},
		"node_groups.labels": {func(_ *spec, g *nodes) { g.Labels = map[string]string{"tier": "1"} },
			"KubeadmConfigTemplate edge-upf", "spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.node-labels", "example.com/node-group=upf,tier=1", ""},
		"node_groups.taints": {func(_ *spec, g *nodes) { g.Taints = []vnfm.NodeTaint{{Key: "a", Value: "b", Effect: "NoSchedule"}} },
			"KubeadmConfigTemplate edge-upf", "spec.template.spec.joinConfiguration.nodeRegistration.taints", []any{map[string]any{"key": "a", "value": "b", "effect": "NoSchedule"}}, ""},
		"node_groups.root_volume":                         {func(_ *spec, g *nodes) { g.MachinePlace = place }, group, "spec.template.spec.volume.diskSize", float64(40), ""},
		"node_groups.networks":                            {func(_ *spec, g *nodes) { g.MachinePlace = place }, group, "spec.template.spec.ports", ports, ""},
		"node_groups.rollout.type":                        {func(_ *spec, g *nodes) { g.Rollout = &vnfm.NodeRollout{Type: "OnDelete"} }, group, "spec.strategy.type", "OnDelete", ""},
		"node_groups.rollout.max_surge":                   {func(_ *spec, g *nodes) { g.Rollout = &vnfm.NodeRollout{MaxSurge: "20%"} }, group, "spec.strategy.rollingUpdate.maxSurge", "20%", ""},
		"node_groups.rollout.max_unavailable":             {func(_ *spec, g *nodes) { g.Rollout = &vnfm.NodeRollout{MaxSurge: "1", MaxUnavailable: "0"} }, group, "spec.strategy.rollingUpdate", map[string]any{"maxSurge": float64(1), "maxUnavailable": float64(0)}, ""},
		"node_groups.health_check.enabled":                {func(_ *spec, g *nodes) { g.HealthCheck = &vnfm.HealthCheck{} }, "MachineHealthCheck edge-upf", "spec", nil, ""},
		"node_groups.health_check.max_unhealthy":          {func(_ *spec, g *nodes) { g.HealthCheck = check }, "MachineHealthCheck edge-upf", "spec.maxUnhealthy", "40%", ""},
		"node_groups.health_check.node_startup_timeout":   {func(_ *spec, g *nodes) { g.HealthCheck = check }, "MachineHealthCheck edge-upf", "spec.nodeStartupTimeout", "600s", ""},
		"node_groups.health_check.unhealthy_timeout":      {func(_ *spec, g *nodes) { g.HealthCheck = check }, "MachineHealthCheck edge-upf", "spec.unhealthyConditions", unhealthy, ""},
		"node_groups.deletion.node_drain_timeout":         {func(_ *spec, g *nodes) { g.Deletion = limits }, group, "spec.template.spec.nodeDrainTimeout", "60s", ""},
		"node_groups.deletion.node_volume_detach_timeout": {func(_ *spec, g *nodes) { g.Deletion = limits }, group, "spec.template.spec.nodeVolumeDetachTimeout", "0s", ""},
		"node_groups.deletion.node_deletion_timeout":      {func(_ *spec, g *nodes) { g.Deletion = limits }, group, "spec.template.spec.nodeDeletionTimeout", "3600s", ""},
	} {
		t.Run(argument, func(t *testing.T) {
			t.Parallel()
			spec := outside(c.change)
			if c.refused != "" {
				var ps vnfm.Problems
				_, _ = Render(spec, &ps)
				require.Len(t, ps, 1)
				assert.Equal(t, c.refused, ps[0].Attribute)
				assert.Contains(t, ps[0].Summary, "the chart outside has no value for "+argument)
				return
			}
			kind, name, _ := strings.Cut(c.object, " ")
			assert.Equal(t, c.want, rendered(t, spec, kind, name, c.path))
		})
	}
}

// TestExternalNetworkWithoutCloud: only an OpenStackCluster can find a network by name.
func TestExternalNetworkWithoutCloud(t *testing.T) {
	spec := outside(func(s *vnfm.ClusterSpec, g *vnfm.NodeGroup) {
		s.Chart.Path, s.Network, g.Flavor = "charts/in-memory", &vnfm.ClusterNetwork{External: &vnfm.CloudResource{Name: "public"}}, ""
	})
	var ps vnfm.Problems
	_, _ = Render(spec, &ps)
	require.Len(t, ps, 1)
	assert.Equal(t, "network.external", ps[0].Attribute)
	assert.Contains(t, ps[0].Summary, "the chart takes the external network by its id alone")
}

// TestOffValuesOfGroups: false and zero of a group are effective in charts that overwrite them from the defaults, and do not change other
// groups.
func TestOffValuesOfGroups(t *testing.T) {
	spec := outside(func(s *vnfm.ClusterSpec, _ *vnfm.NodeGroup) {
		s.NodeGroups = map[string]vnfm.NodeGroup{
			"off":   {Replicas: number(1), HealthCheck: &vnfm.HealthCheck{}, Rollout: &vnfm.NodeRollout{MaxUnavailable: "0", MaxSurge: "1"}},
			"plain": {Replicas: number(1)},
		}
	})
	assert.Nil(t, rendered(t, spec, "MachineHealthCheck", "edge-off", "spec"))
	assert.NotNil(t, rendered(t, spec, "MachineHealthCheck", "edge-plain", "spec"))
	assert.Equal(t, map[string]any{"maxSurge": float64(0), "maxUnavailable": float64(1)}, rendered(t, spec, "MachineDeployment", "edge-plain", "spec.strategy.rollingUpdate"))
	assert.Equal(t, map[string]any{"maxSurge": float64(1), "maxUnavailable": float64(0)}, rendered(t, spec, "MachineDeployment", "edge-off", "spec.strategy.rollingUpdate"))
}

// TestRefusedLabelsAndTaints: invalid labels and taints of nodes are rejected with the path of the argument, for every chart.
func TestRefusedLabelsAndTaints(t *testing.T) {
	embedded := func(s *vnfm.ClusterSpec) {
		s.Chart = &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "openstack"}, Values: map[string]any{
			"cloudCredentialsSecretName": "cloud", "machineImageId": "i", "controlPlane": map[string]any{"machineFlavor": "m"},
		}}
	}
	labelled := func(label string) func(*vnfm.ClusterSpec, *vnfm.NodeGroup) {
		return func(_ *vnfm.ClusterSpec, g *vnfm.NodeGroup) { g.Labels = map[string]string{label: "x"} }
	}
	tainted := func(key string) func(*vnfm.ClusterSpec, *vnfm.NodeGroup) {
		return func(_ *vnfm.ClusterSpec, g *vnfm.NodeGroup) {
			g.Taints = []vnfm.NodeTaint{{Key: key, Effect: "NoSchedule", Propagation: "OnInitialization"}}
		}
	}
	for name, c := range map[string]struct {
		change           func(*vnfm.ClusterSpec, *vnfm.NodeGroup)
		inside, outwards string
	}{
		"of the user":         {labelled("tier"), "", ""},
		"of a prefix":         {labelled("example.com/tier"), "", ""},
		"of kubelet":          {labelled("node.kubernetes.io/tier"), "", ""},
		"of the topology":     {labelled("topology.kubernetes.io/zone"), "", ""},
		"role":                {labelled("node-role.kubernetes.io/core"), "", "kubelet does not start with the label node-role.kubernetes.io/core"},
		"restricted":          {labelled("edge.node-restriction.kubernetes.io/core"), "", "kubelet does not start with the label edge.node-restriction.kubernetes.io/core"},
		"of Cluster API":      {labelled("node.cluster.x-k8s.io/core"), "", ""},
		"of Kubernetes":       {labelled("kubernetes.io/tier"), "no node gets the label kubernetes.io/tier", "no node gets the label kubernetes.io/tier"},
		"of a project of it":  {labelled("tier.k8s.io/x"), "no node gets the label tier.k8s.io/x", "no node gets the label tier.k8s.io/x"},
		"taint":               {tainted("dedicated"), "", ""},
		"taint of kubelet":    {tainted("node.kubernetes.io/not-ready"), "the taint node.kubernetes.io/not-ready", "the taint node.kubernetes.io/not-ready"},
		"taint, out of order": {tainted("node.kubernetes.io/out-of-service"), "", ""},
		"taint of the cloud":  {tainted("node.cloudprovider.kubernetes.io/shutdown"), "the taint node.cloudprovider", "the taint node.cloudprovider"},
		"taint of masters":    {tainted("node-role.kubernetes.io/control-plane"), "the taint node-role", "the taint node-role"},
	} {
		for form, want := range map[string]string{"embedded": c.inside, "outside": c.outwards} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				spec := outside(c.change)
				if form == "embedded" {
					embedded(spec)
				}
				var ps vnfm.Problems
				_, _ = Render(spec, &ps)
				if want == "" {
					require.Empty(t, ps)
					return
				}
				require.Len(t, ps, 1)
				assert.Contains(t, ps[0].Summary, want)
				assert.Equal(t, "node_groups upf", ps[0].Attribute+" "+ps[0].Key)
				assert.Contains(t, []string{"labels", "taints"}, ps[0].Field)
			})
		}
	}
}

// TestPlacesAreDocumented: the guide has a row for each argument, with its values in the chart.
func TestPlacesAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../../templates/guides/workload-clusters.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(guide), "## Charts of your own")
	require.True(t, found)
	rows := regexp.MustCompile(`(?m)^\| .+\|$`).FindAllString(text, -1)
	for prefix, places := range map[string]map[string]chartPlace{"": chartPlaces, "controlPlane.": controlPlanePlaces, groupsPrefix: groupPlaces, "machines": machinePlaces} {
		for _, argument := range slices.Sorted(maps.Keys(places)) {
			wanted := []string{fmt.Sprintf("`%s`", argument)}
			for _, value := range places[argument].values {
				wanted = append(wanted, fmt.Sprintf("`%s`", value))
			}
			assert.True(t, slices.ContainsFunc(rows, func(row string) bool {
				return !slices.ContainsFunc(wanted, func(text string) bool { return !strings.Contains(row, text) })
			}), "the guide has no row with %v (%s)", wanted, prefix)
		}
	}
}
