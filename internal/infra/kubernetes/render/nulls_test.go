package render

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// TestDropNulls reads nulls, letters and repeated objects as Helm and kubectl do.
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
