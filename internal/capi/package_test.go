package capi

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func number(n int64) *int64 { return &n }

func TestX(t *testing.T) {
	d := New(nil)
	for _, spec := range []*vnfm.ClusterSpec{
		{Name: "edge", Namespace: "core", KubernetesVersion: "1.34.0", Chart: &vnfm.ClusterChart{Name: "in-memory"},
			ControlPlane: vnfm.ClusterControlPlane{Replicas: number(3)},
			NodeGroups:   map[string]vnfm.NodeGroup{"a": {Replicas: number(2)}, "b": {Min: number(1), Max: number(3), HealthCheck: &vnfm.HealthCheck{Enabled: true}}}},
		{Name: "edge", Namespace: "core", KubernetesVersion: "1.34.0", Topology: &vnfm.ClusterTopology{Class: "in-memory", Variables: map[string]any{"x": 1}},
			NodeGroups: map[string]vnfm.NodeGroup{"a": {Class: "w", Replicas: number(2)}, "b": {Class: "w", Min: number(1), Max: number(3)}}},
	} {
		p, ps := d.Package(spec)
		require.Empty(t, ps)
		text, err := fs.ReadFile(p.Content, manifestFile)
		require.NoError(t, err)
		os.Stdout.Write(text)
	}
}
