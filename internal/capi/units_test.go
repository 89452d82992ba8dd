package capi

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// unitsOf are the units of a cluster that some objects describe.
func unitsOf(objects []map[string]any) map[string]vnfm.Unit {
	fields := map[string]any{}
	for _, o := range objects {
		fields[fmt.Sprint(o["kind"], fieldAt(o, "metadata", "name"))] = o
	}
	return units("edge", fields)
}

// effects returns the effect on each unit.
func effects(before, after map[string]vnfm.Unit) map[string]string {
	out := map[string]string{}
	for name, u := range after {
		was := before[name]
		if effect := u.Changed(&was); effect != "" {
			out[name] = effect
		}
	}
	return out
}

// TestTopologyUnits checks the effects of changed arguments on the machines of a topology.
func TestTopologyUnits(t *testing.T) {
	t.Parallel()
	groups := func(one, two string) map[string]string {
		return map[string]string{"control plane": "replaced one at a time, drained" + one, "node group fixed": "replaced, 1 more at a time, at most 20% unavailable, drained" + two, "node group auto": "replaced, 1 more at a time, drained" + two}
	}
	const maybe = ", if the class has the changed variables in its machines"
	for _, version := range []string{"v1beta1", "v1beta2"} {
		of := func(change func(*vnfm.ClusterSpec)) map[string]vnfm.Unit {
			spec := topologySpec(version)
			change(spec)
			var ps vnfm.Problems
			objects, _ := forms.Render(spec, &ps)
			assert.Empty(t, ps)
			return unitsOf(objects)
		}
		before := of(func(*vnfm.ClusterSpec) {})
		for name, tc := range map[string]struct {
			change func(*vnfm.ClusterSpec)
			want   map[string]string
		}{
			"nothing":   {func(*vnfm.ClusterSpec) {}, map[string]string{}},
			"version":   {func(s *vnfm.ClusterSpec) { s.KubernetesVersion = "1.35.0" }, groups("", "")},
			"class":     {func(s *vnfm.ClusterSpec) { s.Topology.Class = "large" }, groups("", "")},
			"variables": {func(s *vnfm.ClusterSpec) { s.Topology.Variables = nil }, groups(maybe, maybe)},
			"labels": {
				func(s *vnfm.ClusterSpec) { s.ControlPlane.Labels = map[string]string{"a": "b"} },
				map[string]string{"control plane": "updated in place"},
			},
			"number": {func(s *vnfm.ClusterSpec) { s.ControlPlane.Replicas = clustertest.Number(5) }, map[string]string{}},
		} {
			assert.Equal(t, tc.want, effects(before, of(tc.change)), "%s in %s", name, version)
		}
		assert.Equal(t, 3, *before["control plane"].Count)
		assert.Nil(t, before["node group auto"].Count)
	}
}

// TestObjectUnits checks the effects on the machines of a cluster that a chart or a template of clusterctl describes.
func TestObjectUnits(t *testing.T) {
	t.Parallel()
	of := func(version, template string, surge any, strategy map[string]any) map[string]vnfm.Unit {
		return unitsOf([]map[string]any{
			{
				"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "KubeadmControlPlane", "metadata": map[string]any{"name": "edge"},
				"spec": map[string]any{
					"version": version, "replicas": int64(3), "rolloutStrategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": surge}},
					"machineTemplate": map[string]any{"infrastructureRef": map[string]any{"name": template}},
				},
			},
			{
				"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "metadata": map[string]any{"name": "edge-md-0"},
				"spec": map[string]any{
					"replicas": int64(2), "strategy": strategy,
					"template": map[string]any{"spec": map[string]any{"version": "v1.34.0", "infrastructureRef": map[string]any{"name": "workers"}}},
				},
			},
		})
	}
	before := of("v1.34.0", "a", int64(1), nil)
	assert.Empty(t, effects(before, of("v1.34.0", "a", int64(0), map[string]any{"type": "OnDelete"})))
	assert.Equal(t, map[string]string{"control plane": "replaced, at most 1 unavailable, drained"}, effects(before, of("v1.34.0", "b", int64(0), nil)))
	assert.Equal(t, map[string]string{"control plane": "replaced, 1 more at a time, drained"}, effects(before, of("v1.35.0", "a", int64(1), nil)))
	assert.Equal(t, 2, *before["node group md-0"].Count)
	other := map[string]vnfm.Unit{}
	for name, want := range map[string]string{"OnDelete": "replaced when they are deleted", "RollingUpdate": "replaced, 1 more at a time, drained"} {
		for unit, u := range of("v1.34.0", "a", int64(1), map[string]any{"type": name}) {
			other[unit] = u
		}
		u, was := other["node group md-0"], vnfm.Unit{}
		assert.Equal(t, want, u.Changed(&was))
	}
}
