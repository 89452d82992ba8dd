package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
metadata: {name: one-version, annotations: {cert-manager.io/inject-ca-from: capi-system/serving-cert}}
spec: {scope: Namespaced}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: selfsigned, namespace: capi-system}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving-cert, namespace: capi-system, labels: {part: core}}
spec: {secretName: cert, dnsNames: [webhook.capi-system.svc]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: capi, annotations: {cert-manager.io/inject-ca-from: capi-system/serving-cert}}
webhooks:
- name: validation
  clientConfig: {service: {name: webhook, namespace: capi-system, path: /validate}}
`

func TestCertify(t *testing.T) {
	objects, err := parseManifests(strings.NewReader(withWebhooks))
	if err != nil {
		t.Fatal(err)
	}
	objects, err = certify(objects, func(namespace, secret string, names []string) (map[string][]byte, error) {
		if diff := cmp.Diff([]string{"capi-system", "cert", "webhook.capi-system.svc"}, append([]string{namespace, secret}, names...)); diff != "" {
			t.Error(diff)
		}
		return map[string][]byte{"ca.crt": []byte("authority"), "tls.crt": []byte("certificate")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for _, object := range objects {
		got = append(got, object.Object)
	}
	client := func(path string) map[string]any {
		return map[string]any{
			"service":  map[string]any{"name": "webhook", "namespace": "capi-system", "path": path},
			"caBundle": "YXV0aG9yaXR5",
		}
	}
	want := []map[string]any{{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "clusters.cluster.x-k8s.io", "annotations": map[string]any{"kept": "yes"}},
		"spec": map[string]any{"conversion": map[string]any{
			"strategy": "Webhook",
			"webhook":  map[string]any{"clientConfig": client("/convert"), "conversionReviewVersions": []any{"v1"}},
		}},
	}, {
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "one-version", "annotations": map[string]any{}},
		"spec":     map[string]any{"scope": "Namespaced"},
	}, {
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{"name": "cert", "namespace": "capi-system", "labels": map[string]any{"part": "core"}},
		"data":     map[string]any{"ca.crt": "YXV0aG9yaXR5", "tls.crt": "Y2VydGlmaWNhdGU="},
	}, {
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "capi", "annotations": map[string]any{}},
		"webhooks": []any{map[string]any{"name": "validation", "clientConfig": client("/validate")}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
