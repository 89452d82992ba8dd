package render

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestKept: volume claims and objects with the annotation keep stay when they leave the package.
func TestKept(t *testing.T) {
	const text = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: stays, annotations: {helm.sh/resource-policy: keep}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {volumeClaimTemplates: [{metadata: {name: data}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache}
spec: {volumeClaimTemplates: [{metadata: {name: data}}], persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}
`
	r, problems := new(Renderings).YAML(t.Context(), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
	require.NoError(t, problems.Err())
	require.Equal(t, map[string]string{
		"v1/PersistentVolumeClaim data": "v1/PersistentVolumeClaim data", "v1/ConfigMap stays": "v1/ConfigMap stays",
		"apps/v1/StatefulSet db": "volume claims of apps/v1/StatefulSet db",
	}, r.Kept)
}

// TestPreviewEndsWithItsContext renders many objects after the context has ended.
func TestPreviewEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := strings.Repeat("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\n", 1000)
	for name, look := range map[string]func(*vnfm.Target) vnfm.Problems{
		"preview": func(t *vnfm.Target) vnfm.Problems { _, ps := new(Renderings).Preview(ctx, t); return ps },
		"render":  func(t *vnfm.Target) vnfm.Problems { _, ps := new(Renderings).YAML(ctx, t); return ps },
	} {
		ps := look(targettest.Manifests(map[string]string{"a.yaml": text}, nil))
		if len(ps) != 1 || ps[0].File != "a.yaml" || !strings.Contains(ps[0].String(), "context canceled") {
			t.Errorf("%s: %v", name, ps)
		}
	}
}
