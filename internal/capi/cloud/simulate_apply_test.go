package cloud

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// The result of an apply to an object that others have written to as well.
func TestForeseen(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"port": int64(6443), "balancer": map[string]any{"enabled": true, "provider": "amphora"}, "subnets": []any{"a"},
		"bastion": map[string]any{"enabled": true}, "shared": "x", "endpoint": map[string]any{"host": "192.0.2.1"},
	}}}
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry(kube.FieldManager, `{"f:spec":{"f:port":{},"f:balancer":{"f:enabled":{},"f:provider":{}},"f:subnets":{},"f:bastion":{"f:enabled":{}},"f:shared":{}}}`),
		entry("manager", `{"f:spec":{"f:endpoint":{"f:host":{}},"f:shared":{}}}`),
	})
	for name, c := range map[string]struct{ written, want map[string]any }{
		"as it is": {
			map[string]any{"port": float64(6443), "balancer": map[string]any{"enabled": true, "provider": "amphora"}, "subnets": []any{"a"}, "bastion": map[string]any{"enabled": true}, "shared": "x"},
			map[string]any{"port": float64(6443), "balancer": map[string]any{"enabled": true, "provider": "amphora"}, "subnets": []any{"a"}, "bastion": map[string]any{"enabled": true}, "shared": "x", "endpoint": map[string]any{"host": "192.0.2.1"}},
		},
		"less, and otherwise": {
			map[string]any{"port": float64(443), "balancer": map[string]any{"enabled": true}, "subnets": []any{"a", "b"}, "new": map[string]any{"a": "b"}},
			map[string]any{"port": float64(443), "balancer": map[string]any{"enabled": true}, "subnets": []any{"a", "b"}, "new": map[string]any{"a": "b"}, "shared": "x", "endpoint": map[string]any{"host": "192.0.2.1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := simulateApply(live, c.written)
			assert.Equal(t, c.want, after)
			assert.Equal(t, name == "as it is", assert.ObjectsAreEqual(before, after))
		})
	}
}
