package kube

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// TestExplainCauses checks that a diagnosis names the cause: the claim of a pending pod, the quota
// of a missing pod, the webhook of a rejected pod. Each is reported by an event of an object that
// is not explained itself.
func TestExplainCauses(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	hook := reference(t, c, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", ns)
	applied(t, c, hook, manifest(hook, map[string]any{"webhooks": []any{map[string]any{
		"name": "gate.example.org", "sideEffects": "None", "admissionReviewVersions": []any{"v1"}, "failurePolicy": "Fail",
		"clientConfig":      map[string]any{"url": "https://127.0.0.1:1/gate"},
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": ns}},
		"objectSelector":    map[string]any{"matchLabels": map[string]any{"app": "gated"}},
		"rules":             []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"pods"}}},
	}}}))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), hook, DeleteOptions{}) })
	quota := reference(t, c, "v1", "ResourceQuota", ns, "one-pod")
	applied(t, c, quota, manifest(quota, map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": "1"}}}))

	db := reference(t, c, "apps/v1", "StatefulSet", ns, "db")
	template := podTemplate(db.Name, nil)
	fields(t, template, "spec")["containers"] = []any{map[string]any{
		"name": "main", "image": "example.org/db:1", "volumeMounts": []any{map[string]any{"name": "data", "mountPath": "/data"}},
	}}
	applied(t, c, db, manifest(db, map[string]any{"spec": map[string]any{
		"replicas": 1, "serviceName": db.Name, "selector": map[string]any{"matchLabels": map[string]any{"app": db.Name}}, "template": template,
		"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{
			"storageClassName": "", "accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}}},
	}}))
	ctx := within(t, 30*time.Second)
	for {
		// The only pod that the quota allows.
		if _, err := c.Get(ctx, reference(t, c, "v1", "Pod", ns, "db-0")); err == nil {
			break
		}
		require.NoError(t, poll.Sleep(ctx, 50*time.Millisecond))
	}
	web := reference(t, c, "apps/v1", "Deployment", ns, "web")
	applied(t, c, web, deployment(web, 1, nil))
	gated := reference(t, c, "apps/v1", "Deployment", ns, "gated")
	applied(t, c, gated, deployment(gated, 1, nil))

	want := [][]string{
		{"claim data-db-0: Pending, it asks for a volume without StorageClass", "FailedBinding (PersistentVolumeClaim data-db-0 "},
		{"FailedCreate (ReplicaSet web-", "exceeded quota: one-pod"},
		{"FailedCreate (ReplicaSet gated-", `failed calling webhook "gate.example.org"`},
	}
	for {
		states := c.Explain(ctx, []Ref{db, web, gated})
		said := slices.EqualFunc(states, want, func(s ObjectState, texts []string) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(s.String(), text) })
		})
		if said {
			break
		}
		require.NoError(t, poll.Sleep(ctx, 100*time.Millisecond), "the causes %q are not in %v", want, states)
	}
}
