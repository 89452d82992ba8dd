package labtest

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Get starts no process and returns the same as kubectl prints.
func TestGet(t *testing.T) {
	lab := Kubernetes(t)
	server, namespace := lab.Server(t), lab.Namespace(t)
	for path, body := range map[string]string{
		"/api/v1/namespaces/" + namespace + "/configmaps":        `{"metadata":{"name":"a","labels":{"app":"x"}},"data":{"one.key":"1"}}`,
		"/api/v1/namespaces/" + namespace + "/services":          `{"metadata":{"name":"a","labels":{"app":"x"}},"spec":{"ports":[{"port":80}]}}`,
		"/apis/apps/v1/namespaces/" + namespace + "/deployments": `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"x"}},"replicas":0,"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"a","image":"a:1"}]}}}}`,
	} {
		if status, err := server.Do(t.Context(), http.MethodPost, path, body); err != nil || status != http.StatusCreated {
			t.Fatalf("POST %s: status %d, %v", path, status, err)
		}
	}
	for _, args := range [][]string{
		{"get", "services,deployments", "-o", "name"},
		{"get", "svc,deploy", "-o", "name"},
		{"get", "service/a", "deployments.apps/a", "-o", "name"},
		{"get", "all,configmaps", "-o", "name"},
		{"get", "configmaps", "-l", "app=x", "-o", "name"},
		{"get", "configmap", "a", "-o", `jsonpath={.data.one\.key} {.metadata.name}`},
		{"get", "cm", "a", "-o", "jsonpath={.metadata.labels}{.data}"},
		{"get", "service", "a", "-o", "jsonpath={.spec.ports[0].targetPort} {.spec.absent}"},
		{"get", "configmap", "absent", "--ignore-not-found", "-o", "name"},
		{"get", "configmap", "absent", "--ignore-not-found", "-o", "jsonpath={.data}"},
		{"get", "configmap", "a", "absent", "--ignore-not-found", "-o", "jsonpath={.data}{.items[*].data}"},
		{"get", "configmap", "a", "absent", "--ignore-not-found", "-o", "name"},
		{"get", "pods", "-o", "name"},
		{"get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"},
		{"get", "deployments", "-o", "jsonpath={..image}"},
		{"get", "services", "-o", `jsonpath={range .items[*]}{.metadata.name}={.metadata.uid}{"\n"}{end}`},
		{"get", "services,configmaps", "-o", "jsonpath={.items[*].metadata.name} {.items[*].kind}"},
		{"get", "namespace", namespace, "--output", "jsonpath={.status.phase}"},
		{"get", "configmaps", "--output=name"},
	} {
		args = append([]string{"-n", namespace}, args...)
		want, err := run(t.Context(), filepath.Join(filepath.Dir(lab.binary), "lab-kubectl"), append([]string{"--kubeconfig", lab.Kubeconfig}, args...)...)
		require.NoError(t, err)
		q, ok := parseGet(args)
		if !ok {
			t.Errorf("%s: kubectl has to be asked", strings.Join(args, " "))
			continue
		}
		got, err := server.answer(t.Context(), q)
		if direct := args[3] != "all,configmaps"; direct != (err == nil) || direct && got != string(want) {
			t.Errorf("%s: %q, %v; kubectl says %q", strings.Join(args, " "), got, err, want)
		}
	}
	for _, line := range []string{
		"get pods", "get pods -o yaml", "get pods -A -o name", "get pods --show-managed-fields -o name", "delete pods -o name",
		"get -o name", "get pods,services a -o name", "get pod a -l app=x -o name", "get pods --kubeconfig x -o name", "get pods -o",
	} {
		q, ok := parseGet(strings.Fields(line))
		assert.False(t, ok, "%s was read as %+v", line, q)
	}
}

// A manifest is applied as kubectl applies it, and refused with what the server says.
func TestApply(t *testing.T) {
	lab := Kubernetes(t)
	namespace := lab.Namespace(t)
	lab.apply(t, namespace, "# Two of them.\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {one: '1'}\n---\n"+
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 0, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: a, image: 'a:1'}]}}}\n---\n")
	if out := lab.Kubectl(t, "get", "configmaps,deployments", "-n", namespace, "-o", "jsonpath={.items[*].data.one} {.items[*].spec.replicas}"); out != "1 0" {
		t.Errorf("applied is %q", out)
	}
	err := lab.Server(t).apply(t.Context(), namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nsurplus: 1\n")
	require.ErrorContains(t, err, "surplus", "a field that the kind has")
}
