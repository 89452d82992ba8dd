package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// TestIgnoredFields leaves fields out of a Deployment and an annotated webhook.
func TestIgnoredFields(t *testing.T) {
	const manifests = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {example.org/a: b}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: c, image: example.org/c, ports: [{containerPort: 80, name: http}, {containerPort: 81, name: more}]}
      - {name: d, image: example.org/d}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a, annotations: {vnf.nfv-iac.github.io/ignore-fields: "webhooks[*].clientConfig.caBundle webhooks[b.example.org].failurePolicy"}}
webhooks:
- {name: a.example.org, failurePolicy: Fail, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://a.example.org", caBundle: QQ==}}
- {name: b.example.org, failurePolicy: Fail, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://a.example.org", caBundle: Cg==}}
`
	const web = "apps/v1/Deployment web"
	for name, tt := range map[string]struct {
		ignored any
		want    []string
		check   func(t *testing.T, objects map[string]*render.Object)
	}{
		"fields": {
			ignored: map[string]any{web: []any{
				"metadata.annotations.example.org/a", "spec.template.spec.containers[d].image", "spec.template.spec.containers[0].ports[containerPort=81].name",
				`spec.template.metadata.labels["a"]`,
			}},
			check: func(t *testing.T, objects map[string]*render.Object) {
				t.Helper()
				assert.Empty(t, objects["Deployment"].Field("metadata", "annotations"))
				assert.Empty(t, objects["Deployment"].Field("spec", "template", "metadata", "labels"))
				assert.Equal(t, []any{
					map[string]any{"name": "c", "image": "example.org/c", "ports": []any{map[string]any{"containerPort": int64(80), "name": "http"}, map[string]any{"containerPort": int64(81)}}},
					map[string]any{"name": "d"},
				}, objects["Deployment"].Field("spec", "template", "spec", "containers"))
			},
		},
		"annotation": {
			check: func(t *testing.T, objects map[string]*render.Object) {
				t.Helper()
				webhooks, _ := objects["ValidatingWebhookConfiguration"].Field("webhooks").([]any)
				for i, name := range []string{"a.example.org", "b.example.org"} {
					webhook, _ := webhooks[i].(map[string]any)
					assert.Equal(t, name, webhook["name"])
					assert.Equal(t, map[string]any{"url": "https://a.example.org"}, webhook["clientConfig"])
					assert.Equal(t, i == 0, webhook["failurePolicy"] != nil)
				}
			},
		},
		"no field": {
			ignored: map[string]any{web: []any{"spec.replica"}},
			want:    []string{`apps/v1/Deployment web has no field "spec.replica" to ignore: a field is written as in changes of a plan, for example spec.template.spec.containers[web].image`},
		},
		"no object": {
			ignored: map[string]any{"apps/v1/Deployment www": []any{"spec.replicas"}},
			want:    []string{`additional parameter "ignore_fields" names an object that the instance does not have: "apps/v1/Deployment www"; an object is named as in changes of a plan, for example "apps/v1/Deployment web"`},
		},
		"identity":     {ignored: map[string]any{web: []any{"metadata.name"}}, want: []string{`additional parameter "ignore_fields" names a field that every object needs: metadata.name of "apps/v1/Deployment web"`}},
		"another type": {ignored: []any{web}, want: []string{`additional parameter "ignore_fields" must be a map of objects to lists of fields: it is a list`}},
		"one field":    {ignored: map[string]any{web: "spec.replicas"}, want: []string{`additional parameter "ignore_fields" must be a map of objects to lists of fields: "apps/v1/Deployment web" has a string`}},
	} {
		t.Run(name, func(t *testing.T) {
			target := targettest.Manifests(map[string]string{"a.yaml": manifests}, nil)
			if tt.ignored != nil {
				target.Instance.AdditionalParams = map[string]any{"ignore_fields": tt.ignored}
			}
			r, ps := render.Render(budget.New(t.Context(), budget.Limits{}), target)
			var got []string
			for _, p := range ps {
				got = append(got, p.Summary+": "+p.Detail)
			}
			assert.Equal(t, tt.want, got, "problems")
			if tt.check == nil {
				return
			}
			objects := map[string]*render.Object{}
			for _, o := range r.Objects {
				objects[o.GVK.Kind] = o
			}
			tt.check(t, objects)
		})
	}
}
