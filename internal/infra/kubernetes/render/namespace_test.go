package render

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// scattered are manifests with different namespaces, and without one.
const scattered = `apiVersion: apps/v1
kind: Deployment
metadata: {name: amf, namespace: one}
spec: {replicas: 1, template: {spec: {containers: [{name: a, envFrom: [{configMapRef: {name: c}}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: two}
---
apiVersion: v1
kind: Service
metadata: {name: amf}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: amf, namespace: one}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: amf, namespace: one}
subjects: [{kind: ServiceAccount, name: amf, namespace: one}]
---
apiVersion: example.org/v1
kind: Cell
metadata: {name: a, namespace: one}
---
apiVersion: example.org/v1
kind: Site
metadata: {name: a, namespace: one}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sites.example.org}
spec: {group: example.org, scope: Cluster, names: {kind: Site, plural: sites}, versions: [{name: v1, served: true}]}
---
apiVersion: v1
kind: Secret
metadata: {name: there, namespace: far}
`

// TestNamespaceOverridesManifests: the parameter overrides all namespaces in manifests, and a warning names the moved objects.
// References between moved objects stay valid. Without the parameter nothing moves.
func TestNamespaceOverridesManifests(t *testing.T) {
	target := targettest.Manifests(map[string]string{"a.yaml": scattered}, map[string]int{"amf": 1})
	stays, ps := new(Renderings).Preview(t.Context(), target)
	require.Empty(t, ps)
	require.Contains(t, stays.Objects, "v1/ConfigMap two/c")

	target.Instance.AdditionalParams = map[string]any{"namespace": "far"}
	target.Instance.Namespace = "far"
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Len(t, ps, 1)
	require.Equal(t, `additional parameter "namespace" moves objects to namespace far: apps/v1/Deployment one/amf, v1/ConfigMap two/c, `+
		`rbac.authorization.k8s.io/v1/RoleBinding one/amf, example.org/v1/Cell one/a`, ps[0].Summary)
	want := []string{
		"apiextensions.k8s.io/v1/CustomResourceDefinition sites.example.org",
		"apps/v1/Deployment far/amf",
		"example.org/v1/Cell far/a",
		"example.org/v1/Site one/a",
		"rbac.authorization.k8s.io/v1/ClusterRole one/amf",
		"rbac.authorization.k8s.io/v1/RoleBinding far/amf",
		"v1/ConfigMap far/c",
		"v1/Secret far/there",
		"v1/Service amf",
	}
	assert.Equal(t, want, slices.Sorted(maps.Keys(r.digests())), "identities")
	for _, o := range r.Objects {
		if o.Name == "amf" && o.GVK.Kind == "Deployment" {
			require.Equal(t, "far", o.Field("metadata", "namespace"))
			require.NotNil(t, o.Field("spec", "template", "metadata", "annotations", AnnotationConfiguration), "the ConfigMap of the same namespace")
		}
	}

	target.Instance.AdditionalParams, target.Instance.Namespace = nil, "far"
	_, ps = new(Renderings).Preview(t.Context(), target)
	require.Empty(t, ps, "the argument is for objects that name none")
}

// TestNamespaceMakesObjectsOne: different objects that get the same identity are an error.
func TestNamespaceMakesObjectsOne(t *testing.T) {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: one}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: two}\ndata: {b: c}\n"
	target := targettest.Manifests(map[string]string{"a.yaml": text}, nil)
	target.Instance.AdditionalParams = map[string]any{"namespace": "far"}
	_, ps := new(Renderings).Preview(t.Context(), target)
	require.ErrorContains(t, ps.Err(), "v1/ConfigMap far/a is defined twice")
}

// TestNamespaceOfAChartMovesNothing: the parameter is the namespace of the release. Objects with another namespace in their template
// stay there.
func TestNamespaceOfAChartMovesNothing(t *testing.T) {
	target := targettest.Chart(map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: one}\n"}, nil)
	target.Instance.AdditionalParams = map[string]any{"namespace": "ran"}
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.Empty(t, ps)
	require.Contains(t, preview.Objects, "v1/ConfigMap one/a")
}
