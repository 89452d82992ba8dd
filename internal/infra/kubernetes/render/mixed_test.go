package render

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// alone is the part of the only Kubernetes VIM of an instance with servers elsewhere.
func alone(servers ...string) *vnfm.Part {
	return &vnfm.Part{Rest: true, VDUIDs: servers, Alone: true, Foreign: servers}
}

// TestChartBesideServers: the only Kubernetes VIM has all objects of a chart. With a second Kubernetes VIM a chart is an error.
func TestChartBesideServers(t *testing.T) {
	chart := func(part *vnfm.Part) *vnfm.Target {
		target := targettest.Chart(map[string]string{
			"templates/a.yaml": deploymentAMF + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fw}\n",
		}, map[string]int{"amf": 1, "fw": 2})
		target.Part = part
		return target
	}
	preview, ps := new(Renderings).Preview(t.Context(), chart(alone("fw")))
	require.Empty(t, ps)
	require.Equal(t, []string{"apps/v1/Deployment amf", "helm.sh/v1/Release core-1", "v1/ConfigMap fw"}, slices.Sorted(maps.Keys(preview.Objects)))
	require.Equal(t, []string{"amf"}, slices.Sorted(maps.Keys(preview.VDUs)))

	_, ps = new(Renderings).Preview(t.Context(), chart(&vnfm.Part{VDUIDs: []string{"amf"}, Foreign: []string{"fw"}}))
	require.True(t, ps.HasErrors())
	require.Equal(t, "a Helm chart cannot be placed on several Kubernetes VIMs", ps[0].Summary)

	// A VIM that the instance has left has no objects.
	preview, ps = new(Renderings).Preview(t.Context(), chart(&vnfm.Part{Foreign: []string{"fw"}}))
	require.False(t, ps.HasErrors(), "%v", ps)
	require.Empty(t, preview.Objects)
}

// TestManifestsBesideServers: objects without a VDU are on the only Kubernetes VIM; workloads of VDUs that are servers are not.
func TestManifestsBesideServers(t *testing.T) {
	target := targettest.Manifests(map[string]string{
		"a.yaml": deploymentAMF,
		"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: fw}\n",
	}, map[string]int{"amf": 1, "fw": 1, "tg": 1})
	target.Part = alone("fw", "tg")
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.Empty(t, ps)
	require.Equal(t, []string{"apps/v1/Deployment amf", "v1/ConfigMap b"}, slices.Sorted(maps.Keys(preview.Objects)))
	require.Equal(t, []string{"amf"}, slices.Sorted(maps.Keys(preview.VDUs)))

	target.Instance.AdditionalParams = map[string]any{"vdu_mapping": map[string]any{"tg": map[string]any{"kind": "Deployment", "name": "amf"}}}
	_, ps = new(Renderings).Preview(t.Context(), target)
	require.Len(t, ps, 1)
	require.Equal(t, `additional parameter "vdu_mapping" names VDU "tg", which is not on a Kubernetes VIM: remove it, or place the VDU on one in vim_connections`, ps[0].String())
}
