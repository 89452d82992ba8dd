package kube

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

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
	if first.GetResourceVersion() != again.GetResourceVersion() {
		t.Errorf("an unchanged object was written: %s, then %s", first.GetResourceVersion(), again.GetResourceVersion())
	}
	if first.GetManagedFields()[0].Manager != FieldManager {
		t.Errorf("managed by %q, want %q", first.GetManagedFields()[0].Manager, FieldManager)
	}

	env.Kubectl(t, "patch", "configmap", "settings", "-n", ns, "--type=merge", "--field-manager=operator", `-p={"data":{"level":"debug"}}`)
	_, err = c.Apply(t.Context(), ref, obj, ApplyOptions{})
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v, want a *ConflictError", err)
	}
	if diff := cmp.Diff([]FieldConflict{{Manager: "operator", Field: ".data.level"}}, conflict.Conflicts); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"ConfigMap " + ns + "/settings", ".data.level", `"operator"`, "force_conflicts"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}

	dry, err := c.Apply(t.Context(), ref, obj, ApplyOptions{Force: true, DryRun: true})
	require.NoError(t, err)
	if got := text(dry, "data", "level"); got != "info" {
		t.Errorf("the dry run shows %q, want info", got)
	}
	live, err := c.Get(t.Context(), ref)
	require.NoError(t, err)
	if got := text(live, "data", "level"); got != "debug" {
		t.Errorf("after the dry run the server holds %q, want debug", got)
	}
	if forced, err := c.Apply(t.Context(), ref, obj, ApplyOptions{Force: true}); err != nil || text(forced, "data", "level") != "info" {
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
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "987654321") {
				t.Errorf("%s: the error tells the data: %v", name, err)
			}
			t.Log(err)
		}
	})
	t.Run("unknown kind", func(t *testing.T) {
		_, err := c.Resource(t.Context(), gvk("apps/v1beta1", "Deploymnt"))
		var unknown *UnknownKindError
		if !errors.As(err, &unknown) {
			t.Fatalf("got %v", err)
		}
		if len(unknown.Known) == 0 || unknown.Known[0] != "apps/v1 Deployment" {
			t.Errorf("near kinds: %q", unknown.Known)
		}
	})
	t.Run("missing namespace", func(t *testing.T) {
		ref := reference(t, c, "v1", "ConfigMap", "test-nowhere", "s")
		_, err := c.Apply(t.Context(), ref, manifest(ref, nil), ApplyOptions{})
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "test-nowhere") {
			t.Errorf("got %v", err)
		}
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
	if nodes.Namespaced || nodes.Scale {
		t.Errorf("%+v", nodes)
	}
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
	if err := c.Delete(t.Context(), ref, DeleteOptions{UID: types.UID("00000000-0000-0000-0000-000000000000")}); err != nil {
		t.Errorf("another UID: %v", err)
	}
	if _, err := c.Get(t.Context(), ref); err != nil {
		t.Errorf("the object with another UID is gone: %v", err)
	}
	for range 2 {
		if err := c.Delete(t.Context(), ref, DeleteOptions{UID: list[0].UID}); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Get(t.Context(), ref); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
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
		got = append(got, items[i].GetName()+text(&items[i], "data", "k")+items[i].GetKind())
	}
	if diff := cmp.Diff([]string{"aaConfigMap", "bbConfigMap", "ccConfigMap"}, got); diff != "" {
		t.Error(diff)
	}
}
