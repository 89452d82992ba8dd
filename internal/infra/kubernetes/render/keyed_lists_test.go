package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// TestMergedEntries renders a Pod whose lists have entries with the same key.
func TestMergedEntries(t *testing.T) {
	const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: a
    image: example.org/a
    env: [{name: same, value: b}, {name: last, value: b}, {name: other, value: $(same)}, {name: same, value: b}, {name: last, value: c}]
    ports: [{containerPort: 80}, {containerPort: 80}, {containerPort: 80, protocol: UDP}]
`
	r, ps := render.Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": pod}, nil))
	require.NoError(t, ps.Err())
	containers, _ := r.Objects[0].Field("spec", "containers").([]any)
	require.Len(t, containers, 1)
	assert.Equal(t, map[string]any{
		"name": "a", "image": "example.org/a",
		"env": []any{
			map[string]any{"name": "same", "value": "b"}, map[string]any{"name": "other", "value": "$(same)"}, map[string]any{"name": "last", "value": "c"},
		},
		"ports": []any{map[string]any{"containerPort": int64(80)}, map[string]any{"containerPort": int64(80), "protocol": "UDP"}},
	}, containers[0])
}
