package drift

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// TestFormerDefaults reads a Deployment whose rolling update the API server has filled in.
func TestFormerDefaults(t *testing.T) {
	t.Parallel()
	live := map[string]any{
		"metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": int64(1),
			"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}},
		},
	}
	strategy := func(value map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "other"}, "spec": map[string]any{"strategy": value}}
	}
	for name, tt := range map[string]struct {
		body           map[string]any
		manager, owned string
		want           []string
	}{
		"another type":               {body: strategy(map[string]any{"type": "Recreate"}), want: []string{"spec.strategy.rollingUpdate.maxSurge", "spec.strategy.rollingUpdate.maxUnavailable"}},
		"the same type":              {body: strategy(map[string]any{"type": "RollingUpdate"})},
		"no type":                    {body: strategy(map[string]any{})},
		"with the map":               {body: strategy(map[string]any{"type": "Recreate", "rollingUpdate": map[string]any{}})},
		"another change above":       {body: map[string]any{"spec": map[string]any{"replicas": int64(2), "strategy": map[string]any{}}}},
		"of another manager":         {body: strategy(map[string]any{"type": "Recreate"}), manager: "kubectl", owned: `{"f:spec":{"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{}}}}}`},
		"of the driver":              {body: strategy(map[string]any{"type": "Recreate"}), manager: kube.FieldManager, owned: `{"f:spec":{"f:strategy":{"f:type":{}}}}`, want: []string{"spec.strategy.rollingUpdate.maxSurge", "spec.strategy.rollingUpdate.maxUnavailable"}},
		"another field of a manager": {body: strategy(map[string]any{"type": "Recreate"}), manager: "kubectl", owned: `{"f:spec":{"f:replicas":{}}}`, want: []string{"spec.strategy.rollingUpdate.maxSurge", "spec.strategy.rollingUpdate.maxUnavailable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var entries []metav1.ManagedFieldsEntry
			if tt.manager != "" {
				entries = append(entries, metav1.ManagedFieldsEntry{Manager: tt.manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(tt.owned)})
			}
			paths, err := FormerDefaults(tt.body, live, entries)
			require.NoError(t, err)
			var got []string
			for _, p := range paths {
				got = append(got, p.String())
			}
			assert.Equal(t, tt.want, got)
		})
	}
}
