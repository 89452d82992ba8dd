package render

import (
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// dropEmptyBundles removes each caBundle without a certificate from webhooks and API services. Manifests have such placeholders
// where a controller, for example cert-manager's, writes the certificate.
func dropEmptyBundles(gk schema.GroupKind, content map[string]any) {
	switch gk {
	case schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		dropEmptyBundle(content, "spec")
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		dropEmptyBundle(content, "spec", "conversion", "webhook", "clientConfig")
	case schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
		schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:
		webhooks, _ := content["webhooks"].([]any)
		for _, webhook := range webhooks {
			if fields, ok := webhook.(map[string]any); ok {
				dropEmptyBundle(fields, "clientConfig")
			}
		}
	}
}

func dropEmptyBundle(fields map[string]any, path ...string) {
	for _, name := range path {
		fields, _ = fields[name].(map[string]any)
	}
	text, isText := fields["caBundle"].(string)
	bundle, err := base64.StdEncoding.DecodeString(text)
	if isText && err == nil && strings.TrimSpace(string(bundle)) == "" {
		delete(fields, "caBundle")
	}
}
