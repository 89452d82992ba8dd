package capi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestPausedByOthersEndsTheWait: a Cluster paused by specification or annotation ends the operation.
func TestPausedByOthersEndsTheWait(t *testing.T) {
	t.Parallel()
	c := &cluster{name: "edge", namespace: "core", spec: &vnfm.ClusterSpec{}}
	own := func(metadata, spec map[string]any) *unstructured.Unstructured {
		metadata["name"], metadata["namespace"] = "edge", "core"
		return &unstructured.Unstructured{Object: map[string]any{"kind": "Cluster", "metadata": metadata, "spec": spec}}
	}
	require.NoError(t, c.blocked(t.Context(), nil))
	require.NoError(t, c.blocked(t.Context(), own(map[string]any{}, map[string]any{"paused": false})))
	for _, paused := range []*unstructured.Unstructured{
		own(map[string]any{}, map[string]any{"paused": true}),
		own(map[string]any{"annotations": map[string]any{"cluster.x-k8s.io/paused": ""}}, map[string]any{}),
	} {
		err := c.blocked(t.Context(), paused)
		require.ErrorContains(t, err, "Cluster core/edge is paused by somebody else")
		require.True(t, isFinal(err))
	}
}
