package capi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestFormerObjects: objects that are deleted together with a former Cluster are found.
func TestFormerObjects(t *testing.T) {
	t.Parallel()
	c := &cluster{name: "edge", namespace: "core", spec: &vnfm.ClusterSpec{}}
	template := func(metadata map[string]any) []map[string]*unstructured.Unstructured {
		metadata["name"], metadata["namespace"] = "edge-a", "core"
		return []map[string]*unstructured.Unstructured{{}, {"edge-a": {Object: map[string]any{"kind": "DevMachineTemplate", "metadata": metadata}}}}
	}
	owned := func(kind, name string) map[string]any {
		return map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "name": name, "uid": "1"}}}
	}
	require.Empty(t, c.firstFormer(template(map[string]any{})))
	require.Empty(t, c.firstFormer(template(owned("MachineDeployment", "edge"))))
	require.Empty(t, c.firstFormer(template(owned("Cluster", "other"))))
	require.Equal(t, "DevMachineTemplate core/edge-a", c.firstFormer(template(owned("Cluster", "edge"))))
	require.Equal(t, "DevMachineTemplate core/edge-a with the finalizers a", c.firstFormer(template(map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": []any{"a"}})))
}
