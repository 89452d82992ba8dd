package kubernetes

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabPosted: objects that the API server does not store are posted once per content, and a termination ignores them. A Binding
// succeeds even if an earlier attempt has bound its pod.
func TestLabPosted(t *testing.T) {
	t.Parallel()
	const review = "apiVersion: authorization.k8s.io/v1\nkind: %KIND\nmetadata: {name: a}\nspec: {user: a, resourceAttributes: {namespace: NAMESPACE, verb: get, resource: pods}}\n---\n"
	l := newLab(t, nil, nil)
	node := strings.TrimSpace(l.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}"))
	text := strings.ReplaceAll(review, "%KIND", "SubjectAccessReview") + strings.ReplaceAll(review, "%KIND", "LocalSubjectAccessReview") +
		"apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectRulesReview\nspec: {namespace: default}\n---\n" +
		"apiVersion: authentication.k8s.io/v1\nkind: TokenReview\nspec: {token: planted-token}\n---\n" +
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulerName: none, terminationGracePeriodSeconds: 1, containers: [{name: main, image: example.org/a}]}\n---\n" +
		"apiVersion: v1\nkind: Binding\nmetadata: {name: p}\ntarget: {apiVersion: v1, kind: Node, name: " + node + "}\n"
	files := map[string]string{"a.yaml": strings.ReplaceAll(text, "NAMESPACE", l.namespace)}
	l.setFiles("1", files)
	posts := func() (out []string) {
		for _, r := range l.meter.take() {
			if path, ok := strings.CutPrefix(r, "POST "); ok && (strings.HasSuffix(r, "reviews") || strings.HasSuffix(r, "/bindings")) {
				out = append(out, path[strings.LastIndexByte(path, '/')+1:])
			}
		}
		return out
	}
	l.apply()
	require.Equal(t, []string{"subjectaccessreviews", "localsubjectaccessreviews", "selfsubjectrulesreviews", "tokenreviews", "bindings"}, posts())
	require.Equal(t, node, strings.TrimSpace(l.kubectl("get", "pod", "p", "-o", "jsonpath={.spec.nodeName}")))
	l.inSync()
	files["b.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	files["a.yaml"] = strings.Replace(files["a.yaml"], "user: a,", "user: b,", 1)
	l.setFiles("2", files)
	l.apply()
	require.Equal(t, []string{"subjectaccessreviews"}, posts(), "the one that has changed")
	l.inSync()

	// The inventory of a process that was killed before it noted the posts.
	l.target.Instance.Inventory = l.target.Instance.Inventory[:1]
	l.apply()
	require.Len(t, posts(), 5)

	files["a.yaml"] += "---\napiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nmetadata: {name: none}\nspec: {user: a}\n"
	l.setFiles("3", files)
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	require.ErrorContains(t, err, "posting authorization.k8s.io/v1/SubjectAccessReview none (a.yaml:")
	require.ErrorContains(t, err, "of kind SubjectAccessReview, of which the API server keeps nothing")
	require.NotContains(t, err.Error(), "planted-token")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	require.Empty(t, l.target.Instance.Inventory)
}

// TestLabPostedRejected: a failed creation with only posted objects leaves no object behind.
func TestLabPostedRejected(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.yaml": "apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nmetadata: {name: none}\nspec: {user: a}\n"}, nil)
	l.target.Arguments = func(context.Context) ([]byte, error) { return []byte("{}"), nil }
	require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), "posting authorization.k8s.io/v1/SubjectAccessReview none")
	require.Empty(t, l.target.Instance.Inventory)
	require.Empty(t, strings.Fields(l.kubectl("get", "secret", "-o", "name")))
}
