package kube

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// labConfig reaches the lab with all rights.
func labConfig(t *testing.T, env labtest.Env) Config {
	t.Helper()
	return Config{
		VIM:         "lab",
		UserAgent:   "terraform-provider-vnf/test",
		Connection:  vnfm.KubernetesConnection{Endpoint: env.Endpoint, CACertificate: env.ReadFile(t, env.CAFile)},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.AdminToken)},
	}
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func labClient(t *testing.T, env labtest.Env) *Client {
	t.Helper()
	return newClient(t, labConfig(t, env))
}

// labNamespace returns the lab with a client and a namespace of the test's own.
func labNamespace(t *testing.T) (labtest.Env, *Client, string) {
	t.Helper()
	env := labtest.Kubernetes(t)
	return env, labClient(t, env), env.Namespace(t)
}

func gvk(apiVersion, kind string) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

func lookUp(t *testing.T, c *Client, apiVersion, kind string) Resource {
	t.Helper()
	r, err := c.Resource(t.Context(), gvk(apiVersion, kind))
	require.NoError(t, err)
	return r
}

func reference(t *testing.T, c *Client, apiVersion, kind, namespace, name string) Ref {
	t.Helper()
	return Ref{Resource: lookUp(t, c, apiVersion, kind), Namespace: namespace, Name: name}
}

func applied(t *testing.T, c *Client, ref Ref, obj map[string]any) {
	t.Helper()
	_, err := c.Apply(t.Context(), ref, obj, ApplyOptions{})
	require.NoError(t, err)
}

func manifest(ref Ref, fields map[string]any) map[string]any {
	metadata := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		metadata["namespace"] = ref.Namespace
	}
	out := map[string]any{
		"apiVersion": ref.Resource.GVK.GroupVersion().String(),
		"kind":       ref.Resource.GVK.Kind,
		"metadata":   metadata,
	}
	for k, v := range fields {
		out[k] = v
	}
	return out
}

// podTemplate is a pod whose behaviour in the lab the annotations choose.
func podTemplate(name string, annotations map[string]any) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": name}, "annotations": annotations},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.org/" + name + ":1"}}},
	}
}

func deployment(ref Ref, replicas int, annotations map[string]any) map[string]any {
	return manifest(ref, map[string]any{"spec": map[string]any{
		"replicas": replicas,
		"selector": map[string]any{"matchLabels": map[string]any{"app": ref.Name}},
		"template": podTemplate(ref.Name, annotations),
	}})
}

// fields is an object inside a manifest.
func fields(t *testing.T, obj map[string]any, name string) map[string]any {
	t.Helper()
	inner, ok := obj[name].(map[string]any)
	require.True(t, ok, "%s is %T", name, obj[name])
	return inner
}
