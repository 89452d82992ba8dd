package kube

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

func TestApply(t *testing.T) {
	t.Parallel()
	env, c, ns := labNamespace(t)
	ref := reference(t, c, "v1", "ConfigMap", ns, "settings")
	obj := manifest(ref, map[string]any{"data": map[string]any{"level": "info"}})

	first, err := c.Apply(t.Context(), ref, obj, ApplyOptions{})
	require.NoError(t, err)
	again, err := c.Apply(t.Context(), ref, obj, ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, again.GetResourceVersion(), first.GetResourceVersion(), "an unchanged object was written")
	assert.Equal(t, FieldManager, first.GetManagedFields()[0].Manager, "managed by")

	env.Kubectl(t, "patch", "configmap", "settings", "-n", ns, "--type=merge", "--field-manager=operator", `-p={"data":{"level":"debug"}}`)
	_, err = c.Apply(t.Context(), ref, obj, ApplyOptions{})
	var conflict *ConflictError
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, []FieldConflict{{Manager: "operator", Field: ".data.level"}}, conflict.Conflicts)
	for _, want := range []string{"ConfigMap " + ns + "/settings", ".data.level", `"operator"`, "force_conflicts"} {
		require.ErrorContains(t, err, want, "the error does not say")
	}

	dry, err := c.Apply(t.Context(), ref, obj, ApplyOptions{Force: true, DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, "info", readiness.Text(dry, "data", "level"), "the dry run shows")
	live, err := c.Get(t.Context(), ref)
	require.NoError(t, err)
	assert.Equal(t, "debug", readiness.Text(live, "data", "level"), "after the dry run the server holds")
	if forced, err := c.Apply(t.Context(), ref, obj, ApplyOptions{Force: true}); err != nil || readiness.Text(forced, "data", "level") != "info" {
		t.Errorf("forced: %v, %v", forced, err)
	}
}

func TestApplyRefusals(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)

	t.Run("unknown field", func(t *testing.T) {
		ref := reference(t, c, "v1", "Service", ns, "s")
		_, err := c.Apply(t.Context(), ref, manifest(ref, map[string]any{"spec": map[string]any{"prots": []any{}}}), ApplyOptions{})
		if err == nil || !strings.Contains(err.Error(), "prots") || !strings.Contains(err.Error(), "Service "+ns+"/s") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("secret data is not told", func(t *testing.T) {
		ref := reference(t, c, "v1", "Secret", ns, "s")
		for name, data := range map[string]map[string]any{
			"number":     {"data": map[string]any{"password": 987654321}},
			"not base64": {"data": map[string]any{"password": "hunter2-hunter2!"}},
			"bad field":  {"stringData": map[string]any{"password": "hunter2-hunter2"}, "type": "kubernetes.io/dockerconfigjson"},
		} {
			_, err := c.Apply(t.Context(), ref, manifest(ref, data), ApplyOptions{})
			if err == nil {
				t.Errorf("%s: accepted", name)
				continue
			}
			require.NotContains(t, err.Error(), "hunter2")
			assert.NotContains(t, err.Error(), "987654321", "%s: the error tells the data: %v", name, err)
			t.Log(err)
		}
	})
	t.Run("unknown kind", func(t *testing.T) {
		_, err := c.Resource(t.Context(), gvk("apps/v1beta1", "Deploymnt"))
		var unknown *UnknownKindError
		require.ErrorAs(t, err, &unknown)
		require.NotEmpty(t, unknown.Known)
		assert.Equal(t, "apps/v1 Deployment", unknown.Known[0], "near kinds")
	})
	t.Run("missing namespace", func(t *testing.T) {
		ref := reference(t, c, "v1", "ConfigMap", "test-nowhere", "s")
		_, err := c.Apply(t.Context(), ref, manifest(ref, nil), ApplyOptions{})
		require.True(t, apierrors.IsNotFound(err))
		require.ErrorContains(t, err, "test-nowhere")
	})
}

func TestResource(t *testing.T) {
	t.Parallel()
	c := labClient(t, labtest.Kubernetes(t))
	deployments := lookUp(t, c, "apps/v1", "Deployment")
	if !deployments.Namespaced || !deployments.Scale || deployments.GVR.Resource != "deployments" {
		t.Errorf("%+v", deployments)
	}
	nodes := lookUp(t, c, "v1", "Node")
	require.False(t, nodes.Namespaced, "%+v", nodes)
	assert.False(t, nodes.Scale, "%+v", nodes)
}

func TestDeleteAndMetadata(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	ref := reference(t, c, "v1", "ConfigMap", ns, "a")
	// An object without any applied field would have no managed fields.
	applied(t, c, ref, manifest(ref, map[string]any{"data": map[string]any{"k": "v"}}))

	value := "1"
	require.NoError(t, c.PatchMetadata(t.Context(), ref, map[string]*string{"x": &value}, map[string]*string{"y": &value}))
	require.NoError(t, c.PatchMetadata(t.Context(), ref, nil, map[string]*string{"y": nil}))
	list, err := c.ListMetadata(t.Context(), ref.Resource, ns, ListOptions{LabelSelector: "x=1"})
	require.NoError(t, err)
	if len(list) != 1 || list[0].Name != "a" || len(list[0].ManagedFields) == 0 || len(list[0].Annotations) != 0 || list[0].Kind != "ConfigMap" {
		t.Errorf("%+v", list)
	}
	require.NoError(t, c.Delete(t.Context(), ref, DeleteOptions{UID: types.UID("00000000-0000-0000-0000-000000000000")}), "another UID")
	_, err = c.Get(t.Context(), ref)
	require.NoError(t, err, "the object with another UID is gone")
	for range 2 {
		require.NoError(t, c.Delete(t.Context(), ref, DeleteOptions{UID: list[0].UID}))
	}
	_, err = c.Get(t.Context(), ref)
	assert.True(t, apierrors.IsNotFound(err), "got %v, want not found", err)
}

func TestListPages(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	r := lookUp(t, c, "v1", "ConfigMap")
	names := []string{"a", "b", "c"}
	for _, n := range names {
		ref := Ref{Resource: r, Namespace: ns, Name: n}
		applied(t, c, ref, manifest(ref, map[string]any{"data": map[string]any{"k": n}}))
	}
	items, err := c.List(t.Context(), r, ns, ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	require.NoError(t, err)
	var got []string
	for i := range items {
		got = append(got, items[i].GetName()+readiness.Text(&items[i], "data", "k")+items[i].GetKind())
	}
	assert.Equal(t, []string{"aaConfigMap", "bbConfigMap", "ccConfigMap"}, got)
}
