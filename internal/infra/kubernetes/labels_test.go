package kubernetes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

func TestBody(t *testing.T) {
	target := targettest.Manifests(map[string]string{"1.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: amf, namespace: written, labels: {app: amf}}
spec: {replicas: 1, paused: false, template: {metadata: {labels: {app: amf}}}}
`}, map[string]int{"amf": 3})
	r, ps := render.Render(budget.New(t.Context(), budget.Limits{}), target)
	require.False(t, ps.HasErrors(), ps)
	o := r.Objects[0]
	before, err := json.Marshal(o.Content)
	require.NoError(t, err)
	five := int64(5)
	want := map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata": map[string]any{
			"name": "amf", "namespace": "live",
			"labels": map[string]any{"app": "amf", "vnf.nfv-iac.github.io/instance-id": "i-1"},
			"annotations": map[string]any{
				"vnf.nfv-iac.github.io/instance": "core-1", "vnf.nfv-iac.github.io/package": "core@sha256:1",
				"vnf.nfv-iac.github.io/digest": o.Digest, "vnf.nfv-iac.github.io/key": "apps/v1/Deployment written/amf",
			},
		},
		"spec": map[string]any{"replicas": int64(5), "paused": false, "template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "amf"}}}},
	}
	assert.Equal(t, want, applyBody(o, target, "live", &five), "body")
	_, found, _ := unstructured.NestedFieldNoCopy(applyBody(o, target, "live", nil), "spec", "replicas")
	assert.False(t, found, "a body without a count has replicas")
	after, err := json.Marshal(o.Content)
	require.NoError(t, err)
	assert.Equal(t, string(after), string(before), "composing a body changed the rendered object:\n%s\n%s", before, after)
}
