package capi

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// render returns the objects of a specification by kind and name.
func render(t *testing.T, spec *vnfm.ClusterSpec) map[string]map[string]any {
	t.Helper()
	p, problems := New(nil, nil).Package(spec)
	require.Empty(t, problems)
	text, err := fs.ReadFile(p.Content, p.KubernetesFiles[0])
	require.NoError(t, err)
	objects, err := forms.Decode(string(text))
	require.NoError(t, err)
	out := map[string]map[string]any{}
	for _, o := range objects {
		out[fmt.Sprint(o["kind"], " ", at(t, o, "metadata", "name"))] = o
	}
	return out
}

// at follows fields and indices.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			require.True(t, ok, "%v is no object at %v", v, step)
			v = m[step]
		case int:
			l, ok := v.([]any)
			require.True(t, ok && step < len(l), "%v has no element %d", v, step)
			v = l[step]
		}
	}
	return v
}

func topologySpec(version string) *vnfm.ClusterSpec {
	return &vnfm.ClusterSpec{
		Name: "edge", Namespace: "core", APIVersion: version, KubernetesVersion: "1.34.0",
		Topology: &vnfm.ClusterTopology{Class: "small", ClassNamespace: "classes", Variables: map[string]any{"size": 3, "zone": map[string]any{"name": "a"}}},
		Network:  &vnfm.ClusterNetwork{PodCIDRs: []string{"10.0.0.0/16"}},
		ControlPlane: vnfm.ClusterControlPlane{
			Replicas: clustertest.Number(3), Deletion: &vnfm.MachineDeletion{NodeDrainTimeout: clustertest.Seconds(90)},
			HealthCheck: &vnfm.HealthCheck{Enabled: true, NodeStartupTimeout: 600 * time.Second, UnhealthyTimeout: 120 * time.Second, MaxUnhealthy: "1"},
		},
		NodeGroups: map[string]vnfm.NodeGroup{
			"fixed": {Class: "w", Replicas: clustertest.Number(2), Rollout: &vnfm.NodeRollout{Type: "RollingUpdate", MaxSurge: "1", MaxUnavailable: "20%"}},
			"auto":  {Class: "w", MinReplicas: clustertest.Number(1), MaxReplicas: clustertest.Number(5), Annotations: map[string]string{"a": "b"}},
		},
		RolloutAfter: "2026-01-02T03:04:05Z",
	}
}

func TestTopologyInTheNewerVersion(t *testing.T) {
	c := render(t, topologySpec("v1beta2"))["Cluster edge"]
	assert.Equal(t, "cluster.x-k8s.io/v1beta2", c["apiVersion"])
	top := at(t, c, "spec", "topology")
	assert.Equal(t, map[string]any{"name": "small", "namespace": "classes"}, at(t, top, "classRef"))
	assert.Equal(t, "v1.34.0", at(t, top, "version"))
	assert.Equal(t, "size", at(t, top, "variables", 0, "name"))
	assert.EqualValues(t, 90, at(t, top, "controlPlane", "deletion", "nodeDrainTimeoutSeconds"))
	assert.Equal(t, "2026-01-02T03:04:05Z", at(t, top, "controlPlane", "rollout", "after"))
	assert.EqualValues(t, 120, at(t, top, "controlPlane", "healthCheck", "checks", "unhealthyNodeConditions", 0, "timeoutSeconds"))
	assert.EqualValues(t, 1, at(t, top, "controlPlane", "healthCheck", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo"))
	auto, fixed := at(t, top, "workers", "machineDeployments", 0), at(t, top, "workers", "machineDeployments", 1)
	assert.Equal(t, "20%", at(t, fixed, "rollout", "strategy", "rollingUpdate", "maxUnavailable"))
	assert.EqualValues(t, 2, at(t, fixed, "replicas"))
	assert.NotContains(t, auto, "replicas", "an autoscaler decides")
	assert.Equal(t, map[string]any{"a": "b", clusterv1.AutoscalerMinSizeAnnotation: "1", clusterv1.AutoscalerMaxSizeAnnotation: "5"}, at(t, auto, "metadata", "annotations"))
}

func TestTopologyInTheOlderVersion(t *testing.T) {
	c := render(t, topologySpec("v1beta1"))["Cluster edge"]
	assert.Equal(t, "cluster.x-k8s.io/v1beta1", c["apiVersion"])
	top := at(t, c, "spec", "topology")
	assert.Equal(t, "small", at(t, top, "class"))
	assert.Equal(t, "classes", at(t, top, "classNamespace"))
	assert.NotContains(t, top, "classRef")
	assert.Equal(t, "2026-01-02T03:04:05Z", at(t, top, "rolloutAfter"))
	assert.Equal(t, "90s", at(t, top, "controlPlane", "nodeDrainTimeout"))
	assert.Equal(t, true, at(t, top, "controlPlane", "machineHealthCheck", "enable"))
	assert.Equal(t, "120s", at(t, top, "controlPlane", "machineHealthCheck", "unhealthyConditions", 0, "timeout"))
	assert.Equal(t, "20%", at(t, top, "workers", "machineDeployments", 1, "strategy", "rollingUpdate", "maxUnavailable"))
}

func TestPausedClusterIsReadyAsItIs(t *testing.T) {
	spec := topologySpec("v1beta2")
	spec.Paused = new(true)
	c := render(t, spec)["Cluster edge"]
	assert.Equal(t, true, at(t, c, "spec", "paused"))
	assert.Equal(t, "{.metadata.name}=edge", at(t, c, "metadata", "annotations", annotationReadyPath))
}

func TestPauseIsWrittenBothWays(t *testing.T) {
	spec := topologySpec("v1beta2")
	assert.NotContains(t, at(t, render(t, spec)["Cluster edge"], "spec"), "paused", "not set")
	spec.Paused = new(false)
	c := render(t, spec)["Cluster edge"]
	assert.Equal(t, false, at(t, c, "spec", "paused"))
	assert.NotContains(t, at(t, c, "metadata"), "annotations")
}

func chartSpec() *vnfm.ClusterSpec {
	return &vnfm.ClusterSpec{
		Name: "edge", Namespace: "core", KubernetesVersion: "v1.34.0", Chart: &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Name: "in-memory"}},
		ControlPlane: vnfm.ClusterControlPlane{Replicas: clustertest.Number(3)},
		NodeGroups: map[string]vnfm.NodeGroup{
			"a": {Replicas: clustertest.Number(2), Labels: map[string]string{"node-role.kubernetes.io/core": ""}},
			"b": {MinReplicas: clustertest.Number(1), MaxReplicas: clustertest.Number(3), HealthCheck: &vnfm.HealthCheck{Enabled: true, UnhealthyTimeout: 60 * time.Second, MaxUnhealthy: "40%"}},
		},
	}
}

func TestEmbeddedChart(t *testing.T) {
	objects := render(t, chartSpec())
	assert.Equal(t, "edge-control-plane", at(t, objects["Cluster edge"], "spec", "controlPlaneRef", "name"))
	assert.EqualValues(t, 3, at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "replicas"))
	assert.Equal(t, "v1.34.0", at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "version"))
	a, b := objects["MachineDeployment edge-a"], objects["MachineDeployment edge-b"]
	assert.EqualValues(t, 2, at(t, a, "spec", "replicas"))
	assert.Contains(t, at(t, a, "spec", "template", "metadata", "labels"), "node-role.kubernetes.io/core")
	assert.NotContains(t, at(t, b, "spec"), "replicas")
	assert.Equal(t, "3", at(t, b, "metadata", "annotations", clusterv1.AutoscalerMaxSizeAnnotation))
	assert.EqualValues(t, 60, at(t, objects["MachineHealthCheck edge-b"], "spec", "checks", "unhealthyNodeConditions", 0, "timeoutSeconds"))
	assert.Equal(t, "40%", at(t, objects["MachineHealthCheck edge-b"], "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo"))
	assert.NotContains(t, objects, "MachineHealthCheck edge-a")
}

func TestValuesAreLaidUnderTheArguments(t *testing.T) {
	spec := chartSpec()
	spec.Chart.Values = map[string]any{
		"provisioning": map[string]any{"startupDuration": "9s"}, "controlPlane": map[string]any{"machineCount": 1, "nodeDrainTimeout": "1m"},
	}
	objects := render(t, spec)
	assert.EqualValues(t, 3, at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "replicas"), "the argument wins")
	assert.EqualValues(t, 60, at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "machineTemplate", "spec", "deletion", "nodeDrainTimeoutSeconds"))
	before := names(render(t, chartSpec()), "DevMachineTemplate")
	after := names(objects, "DevMachineTemplate")
	assert.NotEqual(t, before, after, "an immutable template with another content has another name")
}

func names(objects map[string]map[string]any, kind string) []string {
	var out []string
	for _, key := range forms.SortedKeys(objects) {
		if strings.HasPrefix(key, kind+" ") {
			out = append(out, key)
		}
	}
	return out
}

const clusterTemplate = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: ${CLUSTER_NAME}
  namespace: ${NAMESPACE}
  labels: {zone: "${ZONE:=a}"}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: "${CLUSTER_NAME}-control-plane"}
spec: {replicas: ${CONTROL_PLANE_MACHINE_COUNT}, version: "${KUBERNETES_VERSION}"}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: "${CLUSTER_NAME}-md-0"}
spec: {replicas: ${WORKER_MACHINE_COUNT}, clusterName: "${CLUSTER_NAME}"}
`

func templateSpec() *vnfm.ClusterSpec {
	return &vnfm.ClusterSpec{
		Name: "edge", Namespace: "core", KubernetesVersion: "1.34.0", Template: &vnfm.ClusterTemplate{Content: clusterTemplate},
		ControlPlane: vnfm.ClusterControlPlane{Replicas: clustertest.Number(1)},
		NodeGroups:   map[string]vnfm.NodeGroup{"md-0": {Replicas: clustertest.Number(4)}},
	}
}

func TestTemplate(t *testing.T) {
	objects := render(t, templateSpec())
	assert.Equal(t, "core", at(t, objects["Cluster edge"], "metadata", "namespace"))
	assert.Equal(t, "a", at(t, objects["Cluster edge"], "metadata", "labels", "zone"))
	assert.Equal(t, "v1.34.0", at(t, objects["KubeadmControlPlane edge-control-plane"], "spec", "version"))
	assert.EqualValues(t, 4, at(t, objects["MachineDeployment edge-md-0"], "spec", "replicas"))

	spec := templateSpec()
	spec.NodeGroups["md-0"] = vnfm.NodeGroup{MinReplicas: clustertest.Number(2), MaxReplicas: clustertest.Number(3)}
	group := render(t, spec)["MachineDeployment edge-md-0"]
	assert.NotContains(t, at(t, group, "spec"), "replicas")
	assert.Equal(t, "2", at(t, group, "metadata", "annotations", clusterv1.AutoscalerMinSizeAnnotation))
}

func TestPackageProblems(t *testing.T) {
	for name, c := range map[string]struct {
		spec   *vnfm.ClusterSpec
		change func(*vnfm.ClusterSpec)
		want   string
		at     string
	}{
		"no form":              {topologySpec("v1beta2"), func(s *vnfm.ClusterSpec) { s.Topology = nil }, "neither a topology nor a chart nor a template", ""},
		"no version":           {topologySpec("v1beta2"), func(s *vnfm.ClusterSpec) { s.KubernetesVersion = "latest" }, `"latest" is not a valid version of Kubernetes`, "kubernetes_version"},
		"even control plane":   {topologySpec("v1beta2"), func(s *vnfm.ClusterSpec) { s.ControlPlane.Replicas = clustertest.Number(2) }, "a control plane cannot have 2 machines", "control_plane.replicas"},
		"limits and number":    {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Class: "w", Replicas: clustertest.Number(1), MinReplicas: clustertest.Number(1), MaxReplicas: clustertest.Number(2)}), "has a number of nodes and limits", "node_groups"},
		"one limit":            {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Class: "w", MinReplicas: clustertest.Number(1)}), "has one limit of an autoscaler only", "node_groups"},
		"limits the wrong way": {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Class: "w", MinReplicas: clustertest.Number(3), MaxReplicas: clustertest.Number(2)}), "has a minimum of 3 nodes, above the maximum of 2", "node_groups"},
		"no class":             {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Replicas: clustertest.Number(1)}), `node group "g" has no class`, "node_groups"},
		"flavor of a topology": {topologySpec("v1beta2"), func(s *vnfm.ClusterSpec) { s.ControlPlane.Flavor = "big" }, "a topology does not support control_plane.flavor", "control_plane.flavor"},
		"taints in v1beta1":    {topologySpec("v1beta1"), withGroup(vnfm.NodeGroup{Class: "w", Taints: []vnfm.NodeTaint{{Key: "k", Effect: "NoExecute"}}}), "does not know", "node_groups"},
		"chart in v1beta1":     {chartSpec(), func(s *vnfm.ClusterSpec) { s.APIVersion = "v1beta1" }, "the management cluster serves v1beta1 alone", "chart"},
		"chart that is not there": {chartSpec(), func(s *vnfm.ClusterSpec) {
			s.Chart = &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Path: "/nowhere/chart"}}
		}, "the chart cannot be read", "chart"},
		"missing variable":        {templateSpec(), func(s *vnfm.ClusterSpec) { s.NodeGroups = nil }, "needs values for WORKER_MACHINE_COUNT", "clusterctl_template.variables"},
		"unknown variable":        {templateSpec(), func(s *vnfm.ClusterSpec) { s.Template.Variables = map[string]string{"COLOUR": "blue"} }, "has no ${COLOUR}", "clusterctl_template.variables"},
		"variable of an argument": {templateSpec(), func(s *vnfm.ClusterSpec) { s.Template.Variables = map[string]string{"CLUSTER_NAME": "x"} }, "is set by the arguments", "clusterctl_template.variables"},
		"unknown node group": {templateSpec(), func(s *vnfm.ClusterSpec) {
			s.NodeGroups["md-1"] = vnfm.NodeGroup{Replicas: clustertest.Number(1)}
			s.Template.Variables = map[string]string{"WORKER_MACHINE_COUNT": "1"}
		}, "has no MachineDeployment edge-md-1", "node_groups"},
		"fixed version": {templateSpec(), func(s *vnfm.ClusterSpec) {
			s.Template.Content = strings.ReplaceAll(s.Template.Content, "${KUBERNETES_VERSION}", "v1.34.0")
		}, "has no ${KUBERNETES_VERSION}", "kubernetes_version"},
		"another name": {templateSpec(), func(s *vnfm.ClusterSpec) {
			s.Template.Content = strings.Replace(s.Template.Content, "name: ${CLUSTER_NAME}", "name: fixed", 1)
		}, `is named "fixed" and not "edge"`, "clusterctl_template.content"},
		"volume of a topology": {topologySpec("v1beta2"), func(s *vnfm.ClusterSpec) { s.ControlPlane.RootVolume = &vnfm.RootVolume{SizeGiB: 1} }, "a topology does not support control_plane.root_volume", "control_plane.root_volume"},
		"network of a topology": {topologySpec("v1beta2"), func(s *vnfm.ClusterSpec) {
			s.Network = &vnfm.ClusterNetwork{External: &vnfm.CloudResource{Name: "public"}}
		}, "a topology does not support network.external", "network.external"},
		"ports of a topology": {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Class: "w", MachinePlace: vnfm.MachinePlace{Networks: []vnfm.MachineNetwork{{}}}}),
			`a topology does not support networks of node group "g"`, "node_groups"},
		"class of a chart": {chartSpec(), withGroup(vnfm.NodeGroup{Class: "w", Replicas: clustertest.Number(1)}), `a chart does not support class of node group "g"`, "node_groups"},
		"taints of a template": {templateSpec(), func(s *vnfm.ClusterSpec) {
			s.NodeGroups["md-0"] = vnfm.NodeGroup{Replicas: clustertest.Number(1), Taints: []vnfm.NodeTaint{{Key: "k", Effect: "NoExecute"}}}
		}, `a cluster template of clusterctl does not support taints of node group "md-0"`, "node_groups"},
		"labels of a template": {templateSpec(), func(s *vnfm.ClusterSpec) { s.Labels = map[string]string{"a": "b"} }, "a cluster template of clusterctl does not support labels", "labels"},
		"names and autoscaler": {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Class: "w", MinReplicas: clustertest.Number(1), MaxReplicas: clustertest.Number(2), ScaleInMachineNames: []string{"m"}}), "and an autoscaler sizes it", "node_groups"},
		"names and no number":  {topologySpec("v1beta2"), withGroup(vnfm.NodeGroup{Class: "w", ScaleInMachineNames: []string{"m"}}), "replicas does not say how many stay", "node_groups"},
		"no YAML":              {templateSpec(), func(s *vnfm.ClusterSpec) { s.Template.Content = "a: [" + s.Template.Content }, "is not valid YAML", "clusterctl_template.content"},
	} {
		t.Run(name, func(t *testing.T) {
			c.change(c.spec)
			_, problems := New(nil, nil).Package(c.spec)
			require.True(t, problems.HasErrors())
			assert.Contains(t, problems[0].Summary, c.want)
			assert.Equal(t, c.at, problems[0].Attribute)
		})
	}
}

func withGroup(g vnfm.NodeGroup) func(*vnfm.ClusterSpec) {
	return func(s *vnfm.ClusterSpec) { s.NodeGroups = map[string]vnfm.NodeGroup{"g": g} }
}

func TestPackageIsTheSameForTheSameSpecification(t *testing.T) {
	for _, spec := range []func() *vnfm.ClusterSpec{func() *vnfm.ClusterSpec { return topologySpec("v1beta2") }, chartSpec, templateSpec} {
		first, _ := New(nil, nil).Package(spec())
		second, _ := New(nil, nil).Package(spec())
		assert.Equal(t, first.ID, second.ID)
		other := spec()
		other.KubernetesVersion = "1.34.1"
		third, _ := New(nil, nil).Package(other)
		assert.NotEqual(t, first.ID, third.ID)
	}
}

// TestKeepTemplateNamesKeepsTheTrigger: removing the trigger does not rotate the credential, changing it does.
func TestKeepTemplateNamesKeepsTheTrigger(t *testing.T) {
	with := func(trigger string) *vnfm.ClusterSpec {
		return &vnfm.ClusterSpec{OpenStack: &vnfm.ClusterOpenStack{Credential: &vnfm.ClusterCredential{RotationTrigger: trigger}}}
	}
	for name, c := range map[string]struct {
		wanted, present *vnfm.ClusterSpec
		want            string
	}{
		"left out":  {with(""), with("one"), "one"},
		"another":   {with("two"), with("one"), "two"},
		"no record": {with("two"), nil, "two"},
		"no own":    {with("two"), &vnfm.ClusterSpec{}, "two"},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.wanted.OpenStack
			written := before.Credential.RotationTrigger
			New(nil, nil).CarryOver(c.wanted, c.present)
			assert.Equal(t, c.want, c.wanted.OwnCredential().RotationTrigger)
			assert.Equal(t, written, before.Credential.RotationTrigger, "the specification of the caller changes")
		})
	}
}
