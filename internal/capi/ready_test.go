package capi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// machine returns a machine of a group; of the control plane if the group is empty.
func machine(name, group, version string) *unstructured.Unstructured {
	labels := map[string]any{labelControl: ""}
	if group != "" {
		labels = map[string]any{labelNodeGroup: group}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"kind": "Machine", "metadata": map[string]any{"name": name, "namespace": "core", "labels": labels},
		"spec": map[string]any{"version": version},
	}}
}

// An upgrade is not complete while a machine of a node group has the former version, whatever
// the counts of the group are.
func TestMachinesOutdated(t *testing.T) {
	t.Parallel()
	const lags = "Machine core/a-1: its version is v1.34.0 and becomes v1.35.0"
	for name, c := range map[string]struct {
		version string
		group   vnfm.NodeGroup
		machine *unstructured.Unstructured
		want    string
	}{
		"of before":             {"1.35.0", vnfm.NodeGroup{}, machine("a-1", "a", "v1.34.0"), lags},
		"ready":                 {"1.35.0", vnfm.NodeGroup{}, machine("a-1", "a", "v1.35.0"), ""},
		"replaced when deleted": {"1.35.0", vnfm.NodeGroup{Rollout: &vnfm.NodeRollout{Type: "OnDelete"}}, machine("a-1", "a", "v1.34.0"), ""},
		"of the control plane":  {"1.35.0", vnfm.NodeGroup{}, machine("a-1", "", "v1.34.0"), ""},
		"of a group of others":  {"1.35.0", vnfm.NodeGroup{}, machine("a-1", "b", "v1.34.0"), ""},
		"version of a template": {"", vnfm.NodeGroup{}, machine("a-1", "a", "v1.34.0"), ""},
	} {
		cl := &cluster{name: "edge", namespace: "core", spec: &vnfm.ClusterSpec{KubernetesVersion: c.version, NodeGroups: map[string]vnfm.NodeGroup{"a": c.group}}}
		assert.Equal(t, c.want, cl.machinesOutdated(map[string]*unstructured.Unstructured{"a-1": c.machine}), name)
	}
}

// made returns a group, or one of its sets, with a template of machines.
func made(kind, name, template string, replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"kind": kind, "metadata": map[string]any{"name": name, "namespace": "core", "labels": map[string]any{labelNodeGroup: "a"}},
		"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"name": template}}}},
	}}
}

// counted returns a machine set with the counts of an observed generation.
func counted(replicas, observed, has int64) *unstructured.Unstructured {
	set := made("MachineSet", "edge-a-2", "new", replicas)
	set.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	set.SetGeneration(3)
	set.Object["status"] = map[string]any{"observedGeneration": observed, "replicas": has, "readyReplicas": has, "availableReplicas": has, "upToDateReplicas": has}
	return set
}

// A node group is not ready while it has machines of the former template, or while the counts of one of
// its sets are stale: a group that is scaled out and in at once reports the former number for a moment,
// and its machines appear afterwards.
func TestMachineSetsOutdated(t *testing.T) {
	t.Parallel()
	groups := map[string]*unstructured.Unstructured{"edge-a": made("MachineDeployment", "edge-a", "new", 1)}
	cl := &cluster{name: "edge", namespace: "core", spec: &vnfm.ClusterSpec{NodeGroups: map[string]vnfm.NodeGroup{"a": {}}}}
	for name, c := range map[string]struct {
		set  *unstructured.Unstructured
		want string
	}{
		"of before":        {made("MachineSet", "edge-a-1", "old", 1), "MachineDeployment core/edge-a: its machines are made of template old and become ones of new"},
		"of before, empty": {made("MachineSet", "edge-a-1", "old", 0), ""},
		"ready":            {made("MachineSet", "edge-a-2", "new", 1), ""},
		"counted":          {counted(1, 3, 1), ""},
		"not observed":     {counted(1, 2, 1), "MachineSet core/edge-a-2: the controller has not seen generation 3 yet"},
		"too many":         {counted(1, 3, 3), "MachineSet core/edge-a-2: 3 of 1 machines are up to date, 3 are available, 3 exist"},
		"too many of none": {counted(0, 3, 3), "MachineSet core/edge-a-2: 3 of 0 machines are up to date, 3 are available, 3 exist"},
	} {
		assert.Equal(t, c.want, cl.machineSetsOutdated(groups, map[string]*unstructured.Unstructured{"set": c.set}), name)
	}
}
