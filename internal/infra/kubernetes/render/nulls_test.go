package render

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// TestDropNulls reads nulls and the boolean y like Helm and kubectl.
func TestDropNulls(t *testing.T) {
	const text = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ""
  annotations: { empty: , kept: a }
spec:
  paused: y
  strategy: null
  selector: { matchLabels: { app: web, tier: null } }
  template:
    metadata: { labels: { app: web, tier: ~ } }
    spec: { nodeSelector: { disk: null }, containers: [{ name: web, image: web, command: null }] }
`
	objects := Decode(budget.New(t.Context(), budget.Limits{}), "a.yaml", text)
	if assert.Len(t, objects, 1) {
		assert.Equal(t, map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "web", "annotations": map[string]any{"empty": "", "kept": "a"}},
			"spec": map[string]any{
				"paused": true, "selector": map[string]any{"matchLabels": map[string]any{"app": "web", "tier": ""}},
				"template": map[string]any{
					"metadata": map[string]any{"labels": map[string]any{"app": "web", "tier": ""}},
					"spec":     map[string]any{"nodeSelector": map[string]any{"disk": ""}, "containers": []any{map[string]any{"name": "web", "image": "web"}}},
				},
			},
		}, objects[0].Content)
	}
	objects = Decode(budget.New(t.Context(), budget.Limits{}), "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: null, n: no text }\n")
	if assert.Len(t, objects, 1) {
		assert.Equal(t, map[string]any{"a": "", "n": "no text"}, objects[0].Content["data"])
	}
}

// TestBlocksOfCharts reads a block scalar at the end of an object like Helm: it keeps its line break, even if another object follows.
func TestBlocksOfCharts(t *testing.T) {
	target := targettest.Chart(map[string]string{"templates/a.yaml": `apiVersion: v1
kind: ConfigMap
metadata: { name: a }
data:
  text: |
    first
---
apiVersion: v1
kind: ConfigMap
metadata: { name: b }
data:
  text: |-
    last
`}, nil)
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	texts := map[string]any{}
	for _, o := range r.Objects {
		texts[o.Name] = o.Field("data", "text")
	}
	require.Equal(t, map[string]any{"a": "first\n", "b": "last"}, texts)
}
