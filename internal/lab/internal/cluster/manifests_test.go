package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
)

const withWebhooks = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io, annotations: {cert-manager.io/inject-ca-from: capi-system/serving-cert, kept: "yes"}}
spec:
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {service: {name: webhook, namespace: capi-system, path: /convert}}, conversionReviewVersions: [v1]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: one-version}
spec: {scope: Namespaced}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: capi}
webhooks:
- name: validation
  clientConfig: {service: {name: webhook, namespace: capi-system, path: /validate}}
`

func TestServeWebhooks(t *testing.T) {
	objects, err := parseManifests(strings.NewReader(withWebhooks))
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for _, object := range objects {
		if err := serveWebhooks(object, 22009, []byte("authority")); err != nil {
			t.Fatal(err)
		}
		got = append(got, object.Object)
	}
	client := func(path string) map[string]any {
		return map[string]any{"url": "https://127.0.0.1:22009/" + path, "caBundle": "YXV0aG9yaXR5"}
	}
	want := []map[string]any{{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "clusters.cluster.x-k8s.io", "annotations": map[string]any{"kept": "yes"}},
		"spec": map[string]any{"conversion": map[string]any{
			"strategy": "Webhook",
			"webhook":  map[string]any{"clientConfig": client("convert"), "conversionReviewVersions": []any{"v1"}},
		}},
	}, {
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "one-version"},
		"spec":     map[string]any{"scope": "Namespaced"},
	}, {
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "capi"},
		"webhooks": []any{map[string]any{"name": "validation", "clientConfig": client("validate")}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The kinds of the lab's own providers fulfil the contract that they say they do.
func TestDefinitions(t *testing.T) {
	objects, err := parseManifests(strings.NewReader(string(controllers.Definitions)))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 4 {
		t.Errorf("%d kinds", len(objects))
	}
	for _, object := range objects {
		if _, known := resources()[object.GetKind()]; !known {
			t.Errorf("%s is of kind %s", object.GetName(), object.GetKind())
		}
		if object.GetLabels()["cluster.x-k8s.io/v1beta2"] != "v1beta2" {
			t.Errorf("%s fulfils no contract: %v", object.GetName(), object.GetLabels())
		}
	}
}
